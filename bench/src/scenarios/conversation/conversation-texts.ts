/** The callers' steps in measured conversations, and their texts. */
import { DISTURBANCES, PAUSES, type Step } from '../../calls/dialogue.js';
import type { Texts } from '../call-load.js';

export type PartName = 'talking' | 'pausing' | 'eager';
/** Parts of conversations with recorded human speech. */
export type RecordedPartName = 'sentences' | 'background';

export const TEXTS: Texts = {
  opening: [
    'What time do you open?',
    'When do you close tonight?',
    'Are you open on Sunday?',
    'Is there a table outside?',
  ],
  travel: [
    'When does the next train leave?',
    'Where can I park my car?',
    'How long does the flight take?',
    'Which bus goes to the airport?',
  ],
  paying: [
    'How much is a ticket for two?',
    'Can I pay with my card?',
    'Do you send a bill?',
    'What is the price of a room?',
  ],
  request: [
    'I would like to book a table for four people.',
    'Please send the bill to my office.',
    'My parcel has not arrived yet.',
    'I want to change my appointment.',
    'Tell me about the weather tomorrow.',
    'I need a room for three nights.',
  ],
  count: ['Please count all the words.'],
  stop: ['No, stop that right now please.'],
  agree: ['Okay.', 'Yeah.', 'Right.', 'Got it.', 'I see.', 'Uh-huh.', 'Yes.', 'That makes sense.'],
  others: ['Did you see where I have put my keys?'],
};

/** Sentences with a pause where `|` stands. */
export const PAUSED: readonly string[] = [
  'I would like to book a table | for four people on Friday.',
  'My order has not arrived | and I need it before the weekend.',
  'Can you tell me whether | the shop is open on Sunday?',
  'I am calling about | the invoice from last month.',
  'We need two rooms | with a view of the sea.',
  'Please change my appointment | to Thursday afternoon.',
  'The number on the box is | seven four nine two.',
  'I think we could | meet at the station at noon.',
];

/**
 * The steps of each caller in each round. The parts run one after the other, each with its own calls: an agent waits longer for
 * who has paused before.
 */
export const STEPS: Readonly<Record<PartName, readonly Step[]>> = {
  talking: [
    { question: 'opening' },
    { ask: 'count', disturb: DISTURBANCES, interrupt: 'stop' },
    { question: 'travel' },
    { say: 'request' },
    { question: 'paying' },
  ],
  pausing: PAUSES.map((think) => ({ think })),
  eager: [{ question: 'opening' }, { question: 'travel' }],
};

/** The same with recorded human speech, whose recordings are named `sentence` and `others`; all else stays synthetic. */
export const RECORDED_STEPS: Readonly<Record<RecordedPartName, readonly Step[]>> = {
  sentences: [{ say: 'sentence' }],
  background: [{ ask: 'count', disturb: ['others'], interrupt: 'stop' }],
};
