import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describeKind } from '../declaration.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** A network that an application says is to be reached, though it is not public. */
export type Network = readonly [address: Address, bits: number];

/** What is given out to anybody at all, of IPv6: everything else is special, or nobody's (IANA, IPv6 address space). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Where a cloud answers its own machines, in the middle of what is public: Azure's virtual address. */
const PLATFORM: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Whether an address is one of the public internet, whichever way it is written. Private, loopback, link-local (with the
 * metadata of clouds), shared, multicast, documentation and reserved ranges are none, and neither is an IPv6 address that
 * holds an IPv4 one, mapped or translated: it leads to wherever that does.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || PLATFORM.has(address.toString())) return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST);
}

export function isIn(text: string, networks: readonly Network[]): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}

/** Reads networks as `10.1.0.0/16`; what is none goes to `problems`. */
export function readNetworks(where: string, networks: unknown, problems: string[]): readonly Network[] {
  if (networks === undefined) return [];
  if (!Array.isArray(networks)) {
    problems.push(`${where}: networks must be a list, networks: ['10.1.0.0/16']; found ${describeKind(networks)}`);
    return [];
  }
  return (networks as unknown[]).flatMap((network): Network[] => {
    if (typeof network === 'string' && ipaddr.isValidCIDR(network)) return [ipaddr.parseCIDR(network)];
    problems.push(
      `${where}: networks holds ${typeof network === 'string' ? `"${network.slice(0, 60)}"` : describeKind(network)}, which is no network; write networks: ['10.1.0.0/16'], for one address ['10.1.0.7/32']`,
    );
    return [];
  });
}
