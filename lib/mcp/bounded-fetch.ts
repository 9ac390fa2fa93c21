/** Of one response, in bytes: a server must not fill the memory. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** `fetch`, of which a body that is longer than the bound fails when it comes to that. */
export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  let left = MAX_REPLY_BYTES;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) throw new Error(`the server's reply has more than ${MAX_REPLY_BYTES.toString()} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
};
