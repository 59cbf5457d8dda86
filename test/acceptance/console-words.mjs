/** What the console calls each member of an agent's configuration. */

/** Path → label of its control, or of the frame around the controls of a list. */
export const WORDS = {
  'prompt.system_prompt': 'System prompt',
  'prompt.first_message_mode': 'Who speaks first',
  'prompt.first_message': 'First message',
  'prompt.first_message_prompt': 'What the first message is made of',
  'voice.voice_id': 'Voice',
  'voice.speaking_language': 'Language it speaks',
  'voice.languages': 'Languages of a call',
  'voice.expressive': 'Speaks with feeling',
  'conversation.max_duration_seconds': 'Max duration, in seconds',
  'conversation.eagerness': 'How soon it answers',
  'conversation.drafts': 'Think ahead while the caller speaks',
  'conversation.turn_detector': 'What ends a caller’s turn',
  'conversation.noise_reduction': 'Noise reduction',
  'conversation.interruptible': 'Can be interrupted',
  'conversation.interruption_sensitivity': 'How easily it is interrupted',
  'conversation.reengage_enabled': 'Ask again when nobody speaks',
  'conversation.hangup_after_seconds': 'Hang up after a silence, in seconds',
  'conversation.hangup_farewell_enabled': 'Say goodbye before hanging up',
  'conversation.record_audio': 'Record calls',
  'conversation.timezone': 'Time zone',
  'conversation.recovery_mode': 'After a lost machine, it says',
  'conversation.recovery_message': 'Sentence after a lost machine',
  'conversation.transfer_destinations': 'People to connect callers to',
  'conversation.outbound.amd_enabled': 'Detect answering machines',
  'conversation.outbound.voicemail.action': 'What is done then',
  'conversation.outbound.voicemail.message': 'Message',
  'guardrails.focus': 'Stay with the task',
  'guardrails.manipulation': 'Resist manipulation',
  'tools.enabled': 'Use the tools',
  'tools.tool_ids': 'Tools',
  'tools.filler_mode': 'While a tool takes long, it says',
  'tools.filler_message': 'Sentence while a tool takes long',
  'tools.transfer_agents': 'Agents to hand calls over to',
  'tools.system_tools.hang_up_call': 'May hang up',
  'tools.system_tools.send_digits': 'May press keys of the telephone',
  'webhooks.post_call': 'Events after a call',
  'webhooks.conversation_init.url': 'URL',
  'webhooks.conversation_init.secret': 'Secret',
  'webhooks.conversation_init.timeout_seconds': 'Timeout, in seconds',
  'webhooks.conversation_init.web': 'Also before calls of web pages and programs',
  'llm.tier': 'Which model answers',
  'knowledge_base.enabled': 'Look things up',
  'knowledge_base.knowledge_source_ids': 'Knowledge sources',
  'widget.agent_name': 'What it is called',
  'widget.greeting': 'Greeting',
  'widget.proactive_message': 'Message beside the button',
  'widget.consent_required': 'Ask for consent',
  'widget.consent_text': 'What visitors agree to',
  'widget.transcript_enabled': 'Show the transcript',
  'widget.text_input_enabled': 'Let visitors type',
  'widget.mic_muting_enabled': 'Let visitors mute themselves',
  'widget.text_contents': 'Words in place of its own',
  'analysis.summary.enabled': 'Write a summary',
  'analysis.summary.prompt': 'What the summary is to say',
  'analysis.summary.language': 'Language of the summary',
  'analysis.data_fields': 'Values to note',
  'analysis.criteria': 'Criteria',
};

/** The model has a form of its own, which the case about it fills in. */
const ELSEWHERE = /^llm\.custom\./;

const isShown = ([name, { readOnly }]) => !readOnly && name !== 'has_secret';

/** Paths of the members that hold values, lists as a whole. */
export const leavesOf = ({ properties }, path = []) =>
  properties
    ? Object.entries(properties)
        .filter(isShown)
        .flatMap(([name, each]) => leavesOf(each, [...path, name]))
    : [path.join('.')].filter((leaf) => !ELSEWHERE.test(leaf));

/** Runs in the page: the labels of all controls in the sections of the form, and the names of frames. */
export const wordsShown = () =>
  [...document.querySelectorAll('.section :is(label, legend)')].map((each) => each.textContent.trim());
