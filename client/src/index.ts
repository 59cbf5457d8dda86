/** The session SDK: see README.md. */
export { AgentSession, type SessionOptions, type SoundOptions } from './session.js';
export { SessionError, type SessionErrorCode } from './errors.js';
export type { EndReason, Mode, SessionEvents, Status } from './events.js';
export type { PublicAgent, SessionRequest, SessionResponse } from './place.js';
export type { Room } from './room.js';
export type { ClientTool, ClientTools, ToolContext } from './tools.js';
