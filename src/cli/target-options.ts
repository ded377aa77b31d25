import { Option } from "commander";
import { parseUrl } from "./url.ts";

/** The options that choose an account of this machine's server, or a remote server; see `Target`. */
export const targetOptions = {
  user: () => new Option("--user <email>", "the account (default: the server's owner)"),
  url: () =>
    new Option(
      "--url <url>",
      "a remote server; its API key is asked for, or read as one line of standard input",
    ).argParser(parseUrl),
};
