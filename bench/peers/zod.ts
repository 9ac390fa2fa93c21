import { peer } from './install.js';
import { ORDER_ID, WITH_LINES } from './work.js';

interface ZodType {
  int(): ZodType;
  describe(text: string): ZodType;
}
interface Zod {
  readonly z: {
    object(shape: Readonly<Record<string, ZodType>>): unknown;
    number(): ZodType;
    boolean(): ZodType;
  };
}

/** What a tool takes, as the peers want it said. */
export async function argumentsSchema(): Promise<unknown> {
  const { z } = await peer<Zod>('zod');
  return z.object({
    orderId: z.number().int().describe(ORDER_ID),
    withLines: z.boolean().describe(WITH_LINES),
  });
}
