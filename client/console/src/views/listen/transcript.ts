/** A transcript with the times of its words, and its subtitles. */

export interface Segment {
  readonly text: string;
  /** In seconds. */
  readonly start: number;
  readonly end: number;
}

/** The answer of `POST /v1/asr`; a segment is a word. */
export interface Transcript {
  readonly text: string;
  readonly duration: number;
  readonly segments: readonly Segment[];
  readonly language?: string;
}

const LINE_CHARACTERS = 42;
const PAUSE_SECONDS = 0.8;

/** Groups words into cues: as many as fit on a line, and a new cue after a pause. */
function cuesOf(words: readonly Segment[]): readonly Segment[] {
  const cues: Segment[] = [];
  for (const word of words) {
    const last = cues.at(-1);
    const text = last ? `${last.text} ${word.text}` : word.text;
    const fits = last && text.length <= LINE_CHARACTERS && word.start - last.end < PAUSE_SECONDS;
    if (last && fits) cues[cues.length - 1] = { text, start: last.start, end: word.end };
    else cues.push(word);
  }
  return cues;
}

/** 00:00:01,500; `sign` separates seconds and milliseconds as the format requires. */
function stamp(seconds: number, sign: string): string {
  const ms = Math.round(seconds * 1000);
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}${sign}${String(ms % 1000).padStart(3, '0')}`;
}

const cueText = ({ text, start, end }: Segment, sign: string): string =>
  `${stamp(start, sign)} --> ${stamp(end, sign)}\n${text}`;

const asSrt = (words: readonly Segment[]): string =>
  cuesOf(words)
    .map((cue, index) => `${index + 1}\n${cueText(cue, ',')}\n`)
    .join('\n');

const asVtt = (words: readonly Segment[]): string =>
  ['WEBVTT\n', ...cuesOf(words).map((cue) => `${cueText(cue, '.')}\n`)].join('\n');

export const SAVED: Readonly<Record<string, (transcript: Transcript) => string>> = {
  txt: ({ text }) => `${text}\n`,
  srt: ({ segments }) => asSrt(segments),
  vtt: ({ segments }) => asVtt(segments),
  json: (transcript) => JSON.stringify(transcript, null, 2),
};
