/*
 * Somebody else's program: two callers on one server at the same time, by the official client of the version that is
 * named (v1, v2, or v2 with the protocol of 2026). Prints what each was told, as JSON.
 *
 *   node mcp-clients.mjs v1 http://127.0.0.1:3000/mcp 50
 */
const [, , version, url, count] = process.argv;

async function connect(token) {
  const transportOptions = { requestInit: { headers: { authorization: `Bearer ${token}` } } };
  const name = { name: 'somebody', version: '1.0.0' };
  if (version === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client(name);
    await client.connect(new StreamableHTTPClientTransport(url, transportOptions));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(name, {
    versionNegotiation: { mode: version === 'v2-2026' ? { pin: '2026-07-28' } : 'legacy' },
  });
  await client.connect(new StreamableHTTPClientTransport(url, transportOptions));
  return client;
}

/** What a promise gives, or its error in a few words. */
async function outcome(work) {
  try {
    return await work();
  } catch (error) {
    return `refused: ${error.code ?? ''} ${error.message}`;
  }
}

const callers = { ann: await connect('ann'), bob: await connect('bob') };
const told = { version, names: {}, schemas: {}, orders: { ann: [], bob: [] }, wrong: {}, eve: '' };
for (const [who, client] of Object.entries(callers)) {
  const { tools } = await client.listTools();
  told.names[who] = tools.map(({ name }) => name);
  told.schemas[who] = tools.map(({ inputSchema }) => inputSchema);
  told.wrong[who] = await client.callTool({ name: 'OrderTools_findOrder', arguments: { orderId: 'x' } });
}
await Promise.all(
  Array.from({ length: Number(count) }, async (_, n) => {
    const who = n % 2 === 0 ? 'ann' : 'bob';
    const { content } = await callers[who].callTool({ name: 'OrderTools_findOrder', arguments: { orderId: n } });
    told.orders[who].push(content[0].text);
  }),
);
told.eve = await outcome(() => connect('eve'));

// A call that is given up: the server's tool must hear of it.
const controller = new AbortController();
const call = { name: 'wait', arguments: {} };
const waiting = outcome(() =>
  version === 'v1'
    ? callers.ann.callTool(call, undefined, { signal: controller.signal })
    : callers.ann.callTool(call, { signal: controller.signal }),
);
await callers.bob.callTool({ name: 'waiting', arguments: {} });
controller.abort(new Error('given up'));
told.givenUp = typeof (await waiting);
await callers.bob.callTool({ name: 'aborted', arguments: {} });

for (const client of Object.values(callers)) await client.close();
console.log(JSON.stringify(told));
