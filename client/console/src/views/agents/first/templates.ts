/** What a first agent can begin as: its configuration, and the tool and the knowledge that come with it. */
import { BOOKING_TOOL } from '../../../parts/bookings.js';

export interface Template {
  readonly id: string;
  readonly title: string;
  /** What it is for, to choose by. */
  readonly about: string;
  readonly name: string;
  readonly greeting: string;
  readonly task: string;
  /** What a caller could say, in this order. */
  readonly say: readonly string[];
  /** Sections of the configuration beside prompt, tools and knowledge. */
  readonly config?: Readonly<Record<string, object>>;
  /** A client tool, as `POST /v1/agent/tools` takes it. */
  readonly tool?: object;
  readonly knowledge?: { readonly name: string; readonly text: string };
  readonly shows?: 'bookings' | 'written';
  /** Whether the built-in dialogue is not enough. */
  readonly needsModel?: boolean;
}

const BOOKING = {
  name: BOOKING_TOOL,
  tool_type: 'client',
  description: 'Books an appointment. Use it once the caller has said day, time and name.',
  arguments: [
    { name: 'day', description: 'The day, such as Monday' },
    { name: 'time', description: 'The time, such as 10:00' },
    { name: 'name', description: 'The name of the caller' },
  ],
  expects_response: true,
};

const HELP = `# Delivery

Orders are sent within two working days. Delivery in the country takes three days and costs five euros.

# Returns

You can return anything within thirty days. Send it back with the label that came in the parcel, and the money is back within a week.

# Guarantee

Every lamp has a guarantee of five years. If a lamp is broken, we send you a new one.
`;

const SURVEY = {
  analysis: {
    summary: { enabled: true },
    data_fields: [
      { name: 'rating', type: 'number', description: 'How content the caller is, from 1 to 10' },
      { name: 'reason', type: 'text', description: 'Why, in a sentence' },
      { name: 'recommends', type: 'boolean', description: 'Whether the caller would recommend the shop' },
    ],
  },
};

export const TEMPLATES: readonly Template[] = [
  {
    id: 'receptionist',
    title: 'Receptionist',
    about: 'Answers the telephone of a business: says when it is open, where it is, and whom to ask.',
    name: 'Front desk',
    greeting: 'Good day, this is the front desk. How can I help you?',
    task:
      'You answer the telephone of a small shop for lamps. Keep your answers short and friendly.\n' +
      'The shop is open from Tuesday to Saturday, from nine to six.\n' +
      'The shop is at 12 Market Street, beside the station.\n' +
      'Repairs are done by Ms Keller, on Thursdays.',
    say: ['When is the shop open?', 'Where is the shop?', 'Who does repairs?'],
  },
  {
    id: 'support',
    title: 'Support with knowledge',
    about: 'Answers questions from a text that you give it, and says so when the text has no answer.',
    name: 'Customer support',
    greeting: 'Hello, this is customer support. What would you like to know?',
    task:
      'You answer questions of customers of a shop for lamps, from the knowledge that you are given. ' +
      'If the answer is not in it, say that you do not know, and offer to have somebody call back.',
    say: [
      'How many days does delivery take?',
      'Within how many days can I return it?',
      'How many years is the guarantee?',
    ],
    knowledge: { name: 'Help for customers', text: HELP },
  },
  {
    id: 'booking',
    title: 'Booking with a tool',
    about: 'Asks for day, time and name, and books. In the console, this page takes the booking.',
    name: 'Bookings',
    greeting: 'Hello, would you like to book an appointment?',
    task:
      'You book appointments for a hairdresser. Ask for the day, the time and the name, one after the other. ' +
      'When you have all three, book, and say what was booked.',
    say: ['I would like to book an appointment.', 'Monday', '10:30', 'Ada Byron'],
    tool: BOOKING,
    shows: 'bookings',
  },
  {
    id: 'survey',
    title: 'Survey',
    about:
      'Asks three questions. After the call, rating, reason and recommendation are fields of its record.',
    name: 'Survey',
    greeting: 'Hello, and thank you for your time. From one to ten, how content are you with our shop?',
    task:
      'You hold a survey of three questions, one at a time: how content the caller is with the shop, from one to ten; why; ' +
      'and whether they would recommend the shop. Do not comment on the answers. Then thank the caller, and say goodbye.',
    say: ['Nine.', 'Because everybody was friendly.', 'Yes, I would.'],
    config: SURVEY,
    needsModel: true,
  },
  {
    id: 'dictation',
    title: 'Dictation',
    about: 'Writes down what is said, and says nothing but a word to show that it listens.',
    name: 'Dictation',
    greeting: 'I am listening. Say what I should write down.',
    task: 'You take dictation. Answer everything with “Noted.”',
    say: ['The lamps arrive on Monday.', 'Please call the carpenter.'],
    config: { conversation: { eagerness: 'relaxed', record_audio: true } },
    shows: 'written',
  },
];

export const templateOf = (id: string | undefined): Template | undefined =>
  TEMPLATES.find((template) => template.id === id);
