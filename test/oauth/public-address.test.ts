import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { isPublicAddress } from "../../src/oauth/clients/document-fetcher.ts";

describe("an address on the public Internet:", () => {
  test.each(["1.1.1.1", "160.79.104.10", "172.15.0.1", "172.32.0.1", "2606:4700::1", "2a00::1"])(
    "%s is one",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "2002:7f00:1::1",
    "3fff::1",
    "localhost",
    "",
  ])("%s is none", (address) => expect(isPublicAddress(address)).toBe(false));
});

test("no address of this machine is public, whatever network it is from", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  expect(own.map(({ address }) => address).filter(isPublicAddress)).toEqual([]);
});
