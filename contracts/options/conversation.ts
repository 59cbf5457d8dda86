/**
 * The options of protocol B's conversations with agents (docs/contract/agent-elevenlabs.md): the query of the handshake and of the
 * address that signs one, and messages.
 */
import { LIMITS } from '../limits.js';
import { LANGUAGES } from '../speech/languages.js';
import { Type } from '../schemas/type.js';
import { allIgnored, ignored, type OptionRow, refused, used } from './row.js';

const QUERY = ['query'] as const;
const MESSAGE = ['message'] as const;
const OVERRIDES = 'conversation_config_override';

const OWNERS = { logged: true } as const;
const MODEL = 'the agent’s own settings decide it';
const NO_FILES = 'Files are not taken: say in words what is in them';

const Text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, ...(description !== undefined && { description }) }));

const { agent, session } = LIMITS;

const Flag = Type.Optional(Type.Boolean({ default: false }));

export const B_CONVERSATION = {
  agent_id: used(QUERY, Type.String({ description: 'The agent' })),
  conversation_signature: used(QUERY, Type.String({ description: 'Of a signed address, in place of a key' })),
  authorization: used(QUERY, Type.String({ description: 'The API key' })),
  'xi-api-key': used(QUERY, Type.String({ description: 'The API key' })),
  xi_api_key: used(QUERY, Type.String({ description: 'The API key' })),
  ...allIgnored(['environment', 'branch_id'], QUERY, 'an agent has one published version'),
  include_conversation_id: ignored(QUERY, 'a session has its id once it begins'),
  participant_name: ignored(QUERY, 'it belongs to conversations by WebRTC'),
  ...allIgnored(['source', 'version'], QUERY, 'says which client it is'),
  type: used(MESSAGE, Type.String({ description: 'What the message is; audio has none' })),
  user_audio_chunk: used(MESSAGE, Type.String({ description: 'Base64 of PCM, 16 bits, 16 kHz, mono' })),
  text: used(MESSAGE, Text(session.typedLength, 'Of `user_message` and `contextual_update`')),
  tool_call_id: used(MESSAGE, Type.Optional(Type.String())),
  result: used(MESSAGE, Type.Optional(Type.String({ description: 'Of `client_tool_result`' }))),
  is_error: used(MESSAGE, Flag),
  event_id: used(MESSAGE, Type.Optional(Type.Integer({ description: 'Of `pong`' }))),
  user_id: used(MESSAGE, Text(session.endUserId, 'The session’s `end_user_id`')),
  dynamic_variables: used(
    MESSAGE,
    Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'As of a session' })),
  ),
  [`${OVERRIDES}.agent.prompt.prompt`]: used(MESSAGE, Text(agent.systemPromptLength)),
  [`${OVERRIDES}.agent.first_message`]: used(MESSAGE, Text(agent.firstMessage)),
  [`${OVERRIDES}.agent.language`]: used(
    MESSAGE,
    Type.Optional(Type.Enum([...LANGUAGES], { description: 'Also with a region' })),
  ),
  [`${OVERRIDES}.tts.voice_id`]: used(MESSAGE, Text(agent.voiceId)),
  [`${OVERRIDES}.conversation.text_only`]: used(MESSAGE, Flag),
  [`${OVERRIDES}.text_only`]: used(MESSAGE, Flag),
  [`${OVERRIDES}.agent.prompt.llm`]: ignored(MESSAGE, MODEL, OWNERS),
  [`${OVERRIDES}.agent.native_mcp_server_ids`]: ignored(MESSAGE, MODEL, OWNERS),
  [`${OVERRIDES}.asr.keywords`]: ignored(MESSAGE, 'the recogniser takes no words to expect', OWNERS),
  [`${OVERRIDES}.tts.stability`]: ignored(MESSAGE, MODEL, OWNERS),
  [`${OVERRIDES}.tts.speed`]: ignored(MESSAGE, MODEL, OWNERS),
  [`${OVERRIDES}.tts.similarity_boost`]: ignored(MESSAGE, MODEL, OWNERS),
  [`${OVERRIDES}.conversation.client_events`]: ignored(MESSAGE, 'every event is sent', OWNERS),
  custom_llm_extra_body: ignored(MESSAGE, 'the agent’s own model gets what its owner has set', OWNERS),
  tool_mock_config: ignored(MESSAGE, 'tools are mocked in tests of agents', OWNERS),
  source_info: ignored(MESSAGE, 'says which client it is'),
  context_id: ignored(MESSAGE, 'a later update stands beside an earlier one'),
  rich_content_id: ignored(MESSAGE, 'no rich content is sent'),
  score: ignored(MESSAGE, 'sessions keep no marks of single answers', OWNERS),
  is_approved: ignored(MESSAGE, 'no approval is asked for'),
  file: refused(MESSAGE, NO_FILES),
  files: refused(MESSAGE, NO_FILES),
} as const satisfies Readonly<Record<string, OptionRow>>;
