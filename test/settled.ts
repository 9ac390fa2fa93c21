/** Lets a turn of the event loop go by: jest itself fails a test in which a rejection is left to nobody. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
