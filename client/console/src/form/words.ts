/** Words in place of the names of fields and options, where these do not say enough by themselves. */
type Words = Readonly<Record<string, string>>;

export const LABELS: Words = {
  amd_enabled: 'Detect answering machines',
  outbound: 'Placed calls',
  languages: 'Languages of a call',
  llm: 'Language model',
  sip: 'SIP',
  url: 'URL',
  conversation_init: 'Question before a call',
  web: 'Also before calls of web pages and programs',
  proactive_message: 'Message beside the button',
  consent_required: 'Ask for consent',
  transcript_enabled: 'Show the transcript',
  text_input_enabled: 'Let visitors type',
  mic_muting_enabled: 'Let visitors mute themselves',
  text_contents: 'Words in place of its own',
  hangup_after_seconds: 'Hang up after a silence, in seconds',
  hangup_farewell_enabled: 'Say goodbye before hanging up',
  focus: 'Stay with the task',
  manipulation: 'Resist manipulation',
  first_message_mode: 'Who speaks first',
  first_message_prompt: 'What the first message is made of',
  eagerness: 'How soon it answers',
  drafts: 'Think ahead while the caller speaks',
  turn_detector: 'What ends a caller’s turn',
  interruptible: 'Can be interrupted',
  interruption_sensitivity: 'How easily it is interrupted',
  reengage_enabled: 'Ask again when nobody speaks',
  record_audio: 'Record calls',
  recovery_mode: 'After a lost machine, it says',
  recovery_message: 'Sentence after a lost machine',
  filler_mode: 'While a tool takes long, it says',
  filler_message: 'Sentence while a tool takes long',
  tier: 'Language model',
  custom: 'A model of its own',
  base_url: 'Address of the model',
  api_key: 'API key',
  post_call: 'Events after a call',
  hang_up_call: 'May hang up',
  send_digits: 'May press keys of the telephone',
  expects_response: 'Waits for an answer',
  execution_mode: 'How it runs',
  warm_connect: 'How the colleague takes over',
};

const SAID: Words = { auto: 'A usual line', fixed: 'A sentence of yours', off: 'Nothing' };

/** Names of options, by field. Options without a row are shown as they are. */
const OPTIONS: Readonly<Record<string, Words>> = {
  first_message_mode: {
    off: 'The caller',
    fixed: 'The agent, with the sentence below',
    prompt: 'The agent, in words that the model chooses',
  },
  recovery_mode: SAID,
  filler_mode: SAID,
  turn_detector: {
    auto: 'As the gateway is set',
    tables: 'Words and pauses',
    audio: 'A model that listens',
    both: 'Both',
  },
  tier: { instant: 'The quickest', medium: 'The usual one', high: 'The most thorough' },
  execution_mode: {
    blocking: 'The agent waits for it',
    background: 'The agent keeps talking',
    fire_and_forget: 'Nobody waits for its answer',
  },
  mode: {
    cold: 'At once',
    warm: 'After a word with the colleague',
    text: 'In writing',
    voice: 'By voice',
  },
  warm_connect: { confirm: 'By saying yes', direct: 'By picking up' },
  error_handling: {
    passthrough: 'The agent is told what went wrong',
    hide: 'The agent is told only that it failed',
  },
};

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' });

export const optionName = (field: string, option: string): string =>
  /languages?$/.test(field)
    ? (LANGUAGE_NAMES.of(option) ?? option)
    : (OPTIONS[field]?.[option] ?? option.replaceAll('_', ' '));
