import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** Answers in turn: the last one again and again. */
type Answers = readonly (readonly string[])[];

/** A DNS server of the tests, on loopback: answers what it is told, and counts who asks. */
export class DnsServer {
  readonly #socket: Socket;
  readonly #names = new Map<string, Answers>();
  readonly asked: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, peer) => {
      const { name, type, end } = question(query);
      const key = `${name} ${type === AAAA ? 'AAAA' : 'A'}`;
      const before = this.asked.filter((one) => one === key).length;
      this.asked.push(key);
      const answers = this.#names.get(name) ?? [];
      const addresses = (answers[Math.min(before, answers.length - 1)] ?? []).filter(
        (address) => isIPv6(address) === (type === AAAA),
      );
      socket.send(reply(query, end, type, addresses, this.#names.has(name)), peer.port, peer.address);
    });
  }

  static async open(): Promise<DnsServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new DnsServer(socket);
  }

  name(name: string, ...answers: Answers): void {
    this.#names.set(name, answers);
  }

  /** A look-up that asks this server, both kinds of addresses. */
  get lookup(): (hostname: string) => Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${this.#socket.address().port.toString()}`]);
    return async (hostname) => {
      const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    };
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

const AAAA = 28;

function question(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, end: number, type: number, addresses: readonly string[], isKnown: boolean): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(isKnown ? 0x8580 : 0x8583, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = isIPv6(address) ? ipv6(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function ipv6(address: string): Buffer {
  const [left = '', right] = address.split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [groups(left), groups(right ?? '')];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  const data = Buffer.alloc(16);
  for (const [index, group] of all.entries()) data.writeUInt16BE(group, index * 2);
  return data;
}
