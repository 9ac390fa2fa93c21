import type { AIService, AIServiceOptions } from '../lib/agent/service.js';
import { createService } from '../lib/agent/standalone.js';
import { scanInstance } from './scan.js';

/**
 * A service outside any container, for scripts and tests: instances of decorated classes and `Tool`s are used as they
 * are. There is no caller and no scope in it, so a tool with `@FromScope` ends the run with an `AIScopeError`.
 * Without `tools` it is a plain model.
 */
export function createAIService(options: AIServiceOptions): AIService {
  return createService(options, scanInstance);
}
