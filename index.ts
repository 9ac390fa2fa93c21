/// <reference types="node" preserve="true" />
/** The public face of inversify-ai. */
export { AI, type AIOptions } from './decorators/ai.js';
export { AITool, type AIToolOptions } from './decorators/ai-tool.js';
export { AIToolContext } from './decorators/ai-tool-context.js';
export { AIToolGroup, type ToolGroupDecorator } from './decorators/ai-tool-group.js';
export { AIToolParam, type AIToolParamOptions } from './decorators/ai-tool-param.js';
export { FromScope } from './decorators/from-scope.js';
export { Mutating } from './decorators/mutating.js';
export { ReadOnly } from './decorators/read-only.js';

export { createAIService } from './container/create-ai-service.js';
export type { AIDescription, SiteDescription, ToolDescription } from './container/describe.js';
export { installAI, type AIHandle, type InstallOptions } from './container/install.js';
export { ToolRegistry } from './container/tool-registry.js';
export { AIScope, type ScopeBinder } from './container/scope.js';

export type { ChatOptions } from './lib/agent/chat-options.js';
export { ArgumentGuard, type ArgumentGuardOptions } from './lib/agent/argument-guard.js';
export type {
  AIRunEvent,
  ModelReplied,
  ModelRetried,
  RunEnded,
  RunStarted,
  ToolEnded,
  ToolSourceChanged,
  ToolStarted,
  TurnStarted,
} from './lib/agent/events.js';
export { AIMiddleware, type TurnContext } from './lib/agent/middleware.js';
export { AIObserver } from './lib/agent/observer.js';
export { Recorder, type RecorderOptions } from './lib/agent/recorder.js';
export { AIService, type AIServiceOptions, type WithToolsOptions } from './lib/agent/service.js';
export type { AIEvent, RunAnswered, TextWritten } from './lib/agent/event-stream.js';
export type { AnswerType, AnswerValue } from './lib/agent/typed-answer.js';
export type { ToolOptions } from './lib/declaration.js';
export {
  AIDefinitionError,
  AIError,
  type AIErrorCode,
  AILimitError,
  AIProviderError,
  AIResponseError,
  AIScopeError,
  AIToolError,
  AIToolIterationError,
  AIToolSourceError,
  type ProviderFailure,
} from './lib/errors.js';
export type { AILogger } from './lib/logger.js';
export {
  ChatModel,
  type FunctionChoice,
  type JsonSchema,
  type ModelDelta,
  type ModelFunction,
  type ModelMessage,
  type ModelProfile,
  type ModelCall,
  type ModelReply,
  type ModelRequest,
  type ResponseSchema,
  type WireName,
} from './lib/model/chat-model.js';
export type { FinishReason } from './lib/model/finish-reason.js';
export type { ModelUsage } from './lib/model/usage.js';
export type { AILimits, ModelPrices, ModelSettings, RetryOptions, ToolChoice } from './lib/run-options.js';
export { embeddedModel } from './lib/model/embedded.js';
export { modelFromEnv } from './lib/model/model-from-env.js';
export { openAI, type OpenAIOptions } from './lib/model/open-ai.js';
export type { OpenAIClient } from './lib/model/open-ai-model.js';
export type { OpenAIProfile, OpenAIProfileName } from './lib/model/profiles.js';
export type {
  AIRun,
  AIUsage,
  PartialRun,
  ToolCallOutcome,
  ToolCallRecord,
  ToolEffect,
  TranscriptCall,
  TranscriptEntry,
} from './lib/run.js';
export type { ArgumentsSchema, JsonSchemaObject, ParameterSchema } from './lib/schema/json-schema.js';
export type {
  ClassType,
  ElementOptions,
  ElementType,
  EnumValues,
  ParameterKind,
  ParameterOptions,
  ParameterType,
} from './lib/schema/parameter.js';
export type { StandardIssue, StandardResult, StandardSchema, TextFormat } from './lib/schema/shape.js';
export { defineTool, type ToolArguments, type ToolDefinition } from './lib/tool/define-tool.js';
export type { ToolGroup } from './lib/tool/group.js';
export type { RegisterOptions, RegistryChange, RegistryEntry, ToolClass } from './lib/tool/registry.js';
export { toolset, type Toolset, type ToolSource } from './lib/tool/toolset.js';
export { refuse, type NextTool, type ToolInvocation, type ToolOutcome } from './lib/tool/middleware.js';
export type { Tool, ToolCallContext, ToolParameter, ToolParameters } from './lib/tool/tool.js';
