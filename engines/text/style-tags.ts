/**
 * Style and speaker tags in text, and tags of SSML, for engines that do not know them: stripped, never read aloud
 * (docs/contract/decisions.md "Models and voices"). Only the known vocabulary counts as a tag; other brackets are text.
 */
import { TAG_ATTRIBUTES } from '../../contracts/text/open-tag.js';

const EMOTIONS =
  'happy sad angry excited calm nervous confident surprised satisfied delighted scared worried upset frustrated depressed empathetic embarrassed disgusted moved proud relaxed grateful curious interested confused joyful disdainful unhappy anxious hysterical indifferent uncertain doubtful disappointed regretful guilty ashamed jealous envious hopeful optimistic pessimistic nostalgic lonely bored contemptuous sympathetic compassionate determined resigned impatient scornful panicked furious reluctant keen disapproving negative denying astonished serious sarcastic conciliative comforting sincere sneering hesitating yielding painful awkward amused';
const SOUNDS =
  'laugh laughs laughing laughter chuckle chuckles chuckling giggle giggles giggling sob sobs sobbing cry crying sigh sighs sighing pant pants panting groan groans groaning gasp gasps gasping yawn yawning snore snoring cough coughs coughing sniff sniffs breath breathing inhale inhales exhale exhales whisper whispers whispering shout shouts shouting scream screams screaming singing humming pause break';
const PHRASES = [
  'in a hurry tone,soft tone,low voice,low volume,volume up,volume down,crying loudly,crowd laughing,background laughter',
  'audience laughing,audience laughter,long break,long-break,short pause,long pause,clear throat,clearing throat',
  'clears throat,lip smacking,lip-smacking,professional broadcast tone,emphasis',
].flatMap((tags) => tags.split(','));

/**
 * Further ones that texts for ElevenLabs' model v3 hold, which `eleven_*` stands for, too. In square brackets only: in
 * round ones they are words of a text.
 */
const DIRECTIONS = new Set(
  [
    'laughs harder,starts laughing,wheezing,snorts,sings,exhales sharply,inhales deeply,gulps,swallows,muttering',
    'stuttering,applause,clapping,gunshot,explosion,annoyed,appalled,thoughtful,impressed,amazed,alarmed,panicking',
    'deadpan,questioning,reassuring,cautiously,dramatically,warmly,quizzically,mischievously,sheepishly,nervously',
    'happily,sadly,angrily,excitedly,curiously,sarcastically',
  ].flatMap((tags) => tags.split(',')),
);
const DEGREE = /^(?:very|slightly|a little|a bit|really|so|softly|loudly|quietly|extremely|in a) /u;
const DELIVERY = / (?:tone|voice|softly|loudly|quietly)$/u;

const TAGS = new Set([...EMOTIONS.split(' '), ...SOUNDS.split(' '), ...PHRASES]);

/** Elements of SSML, which clients of protocol B put into text; what stands between their tags is spoken. */
const ELEMENTS = 'break|speak|phoneme|prosody|emphasis|say-as|sub|voice|lang';

/** The beginning of a tag of such an element. */
export const SSML_TAG = new RegExp(`^</?(?:${ELEMENTS})\\b`, 'iu');

/** Bounded, as no tag is longer than the shortest piece may be. */
const SSML_TAGS = new RegExp(`</?(?:${ELEMENTS})(?:\\s[^<>]{0,${TAG_ATTRIBUTES}})?/?>`, 'giu');

/** Whether the words within brackets are a tag; `square`: within square ones. */
export function isTag(words: string, square: boolean): boolean {
  const phrase = words.toLowerCase().trim();
  const isKnown = TAGS.has(phrase) || (square && DIRECTIONS.has(phrase));
  return isKnown || TAGS.has(phrase.replace(DEGREE, '').replace(DELIVERY, ''));
}

/** The text without tags of SSML, whose attributes may be in another script than what is spoken: `ph="təˈmeɪtoʊ"`. */
export const withoutSsml = (text: string): string => text.replace(SSML_TAGS, '');

const SPEAKER = /<\|speaker:\d{1,4}\|>/gu;

/** Keeps the speaker across pieces of one text: a piece that begins without a speaker's tag gets the last one. */
export class SpeakerTags {
  #last = '';

  carry(text: string): string {
    const tags = [...text.matchAll(SPEAKER)];
    const begins = tags[0]?.index === 0 ? '' : this.#last;
    this.#last = tags.at(-1)?.[0] ?? this.#last;
    return begins + text;
  }
}
