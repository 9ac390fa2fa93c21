import { isObject } from '../declaration.js';
import { AIToolError } from '../errors.js';
import { cut } from '../schema/quote.js';

/** What of the text of an error is told to the model, where the application trusts it; in characters. */
const MAX_ERROR = 1_000;

/** Marks what is somebody else's words. */
export function foreign(server: string, text: string): string {
  return `[from the MCP server ${server}] ${text}`;
}

/**
 * What the model is told of a result: the structured content where there is some, else the parts of the content in their
 * order, what is no text by its kind. An error result throws: what it says is a server's words about its own insides, so
 * they go to the observer, and to the model only where the application says that it trusts them.
 */
export function remoteResult(server: string, result: unknown, trustErrors: boolean): string {
  if (!isObject(result)) throw new Error(`the MCP server ${server} answered with something that is no result`);
  const { content, structuredContent, isError } = result;
  const text = contentText(content);
  if (isError === true) {
    if (trustErrors) throw new AIToolError(foreign(server, cut(text, MAX_ERROR)));
    throw new Error(`the MCP server ${server} answered with an error: ${text.slice(0, 4 * MAX_ERROR)}`);
  }
  const told = isObject(structuredContent) ? JSON.stringify(structuredContent) : text;
  return told === '' ? '' : foreign(server, `\n${told}`);
}

function contentText(content: unknown): string {
  return Array.isArray(content) ? (content as unknown[]).map(partText).join('\n') : '';
}

function partText(part: unknown): string {
  if (!isObject(part)) return '[something that is no content]';
  const { type, text, mimeType, data, uri, resource } = part;
  const named = (...words: readonly unknown[]): string =>
    `[${words
      .filter((word) => typeof word === 'string' && word !== '')
      .map((word) => cut(word as string, 200))
      .join(' ')}]`;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? text.toWellFormed() : '';
    case 'image':
    case 'audio':
      return named(type, mimeType, bytes(data));
    case 'resource_link':
      return named('a link to', uri);
    case 'resource': {
      const { uri: at, text: held, mimeType: kind, blob } = isObject(resource) ? resource : {};
      const head = named('the resource', at, kind, bytes(blob));
      return typeof held === 'string' ? `${head}\n${held.toWellFormed()}` : head;
    }
    default:
      return named('content of the kind', type);
  }
}

function bytes(base64: unknown): string {
  return typeof base64 === 'string' ? `${Math.floor((base64.length * 3) / 4).toString()} bytes` : '';
}
