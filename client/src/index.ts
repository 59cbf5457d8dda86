/** The session SDK: see README.md. */
export { AgentSession, type SessionOptions } from './session.js';
export { SessionError, type SessionErrorCode } from './errors.js';
export type { EndReason, Mode, SessionEvents, Status } from './events.js';
export type { PublicAgent, SessionRequest, SessionResponse } from './place.js';
export type { Room, SoundOptions } from './room.js';
export type { ClientTool, ClientTools, ToolContext } from './tools.js';
export type {
  CallAnalyzedEvent,
  CallEndedEvent,
  EventSession,
  EventTurn,
  EventUsage,
  PhoneCallEndedEvent,
  WebhookEvent,
} from './webhook-events.js';
export { verifyWebhook, WebhookError, type WebhookErrorCode, type WebhookRequest } from './webhooks.js';
