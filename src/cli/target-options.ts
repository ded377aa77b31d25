import { Option } from "commander";
import { parseUrl } from "./url.ts";

/** Which account of this machine's server, or which other server: the options of `Target`. */
export const targetOptions = {
  user: () => new Option("--user <email>", "account (by default the server's owner)"),
  url: () =>
    new Option(
      "--url <url>",
      "a server elsewhere; its API key is asked for, or read as one line of standard input",
    ).argParser(parseUrl),
};
