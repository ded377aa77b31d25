import { BlockList, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** IANA's special-purpose IPv4 addresses that are not globally reachable, and multicast. */
const SPECIAL_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/** Within 2000::/3: protocol assignments with Teredo, documentation, and 6to4. */
const SPECIAL_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const specialIpv4 = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) specialIpv4.addSubnet(network, bits, "ipv4");
const specialIpv6 = new BlockList();
for (const [network, bits] of SPECIAL_IPV6) specialIpv6.addSubnet(network, bits, "ipv6");
const globalIpv6 = new BlockList();
// All addresses that are global today. Addresses that map or translate IPv4 are outside.
globalIpv6.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address is on the public Internet, and not on this machine or its network. */
export function isPublicAddress(address: string): boolean {
  return isGlobal(address) && !isOwnAddress(address);
}

/** Whether this machine has an address, such as the public one of a server without a router. */
function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flat()) {
    if (each) own.addAddress(each.address, each.family === "IPv6" ? "ipv6" : "ipv4");
  }
  return own.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function isGlobal(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  // A mapped IPv4 address would be checked as IPv4.
  if (address.includes(".") || /^::ffff:/i.test(address)) return false;
  return globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
}
