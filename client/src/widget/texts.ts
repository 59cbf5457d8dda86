/** The widget's words. A page may replace any of them, for another language or another tone. */
export const TEXTS = {
  agent: 'Assistant',
  user: 'You',
  launcher: 'Talk to us',
  running: 'Back to the call',
  close: 'Close',
  dismiss: 'Dismiss the message',
  consent: 'You will talk to a computer. The conversation may be recorded.',
  conversation: 'Conversation',

  start: 'Start call',
  again: 'Start again',
  type: 'Type instead',
  agree: 'Agree and start',
  decline: 'Not now',
  cancel: 'Cancel',
  mute: 'Mute',
  unmute: 'Unmute',
  end: 'End call',
  message: 'Message',
  send: 'Send',

  connecting: 'Connecting…',
  talking: 'You are connected. Just speak.',
  writing: 'You are connected. Your microphone is off.',
  muted: 'Your microphone is off.',
  reconnecting: 'The connection was interrupted. Reconnecting…',
  listening: 'Listening',
  thinking: 'Thinking',
  speaking: 'Speaking',
  handover: 'You are now talking to {name}.',

  hungUp: 'You have ended the call.',
  ended: 'The assistant has ended the call.',
  tooLong: 'The call has reached its longest duration.',
  escalated: 'The call was handed over to a person.',
  lost: 'The connection was lost. Check your connection to the internet, then start again.',
  late: 'Connecting took too long. Start again.',
  away: 'The service cannot be reached. Check your connection to the internet, then start again.',
  busy: 'All lines are busy. Start again in a minute.',
  busyFor: 'All lines are busy. Start again in {seconds} seconds.',
  closed: 'This assistant takes no calls from here. Please tell whoever runs this page.',
  refused:
    'The microphone is not allowed. Allow it for this page in your browser, next to the address, then start again. Or type instead.',
  noMicrophone: 'No microphone was found. Connect one, then start again. Or type instead.',
  inUse:
    'The microphone cannot be used. Close other programs that use it, then start again. Or type instead.',
  insecure: 'The microphone works on secure pages (https) only. Type instead.',
  microphoneGone: 'The microphone was disconnected or blocked, so you are muted. Choose Unmute to try again.',
  unanswered: 'The assistant could not answer. Please say it again.',
  unsent: 'The message could not be sent. Please send it again.',
  messageTooLong: 'The message is too long. Please shorten it.',
  tooFast: 'That was too fast. Wait a moment, then send it again.',
  onHold: 'You are on hold. Your message was not read.',
} as const;

export type Texts = Readonly<Record<keyof typeof TEXTS, string>>;

/** `{name}` in a text is replaced by `values.name`. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
