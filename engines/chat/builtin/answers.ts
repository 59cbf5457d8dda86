/** Finds the sentences that answer a question, in passages and prompt. It only quotes and never invents. */
import { overlap, sentencesOf, topicsOf } from './words.js';

/** Most sentences of one answer. */
const MOST_SENTENCES = 2;

interface Candidate {
  readonly sentence: string;
  readonly score: number;
}

/** Beginnings of instructions to the agent, which cannot be quoted to a user. */
const INSTRUCTS =
  /^(you|your|always|never|do|don't|if|when|be|please|answer|speak|keep|use|ask|say|greet)\b/iu;

function best(sentences: readonly string[], question: ReadonlySet<string>): Candidate[] {
  const least = Math.min(2, question.size);
  return sentences
    .map((sentence) => ({ sentence, score: overlap(question, topicsOf(sentence)) }))
    .filter(({ score }) => score > 0 && score >= least)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_SENTENCES);
}

/** Undefined if nothing fits. `passages`: best first. */
export function answerFrom(
  question: string,
  passages: readonly string[],
  prompt: string,
): string | undefined {
  const topics = topicsOf(question);
  if (topics.size === 0) return undefined;
  const quotable = sentencesOf(prompt).filter((sentence) => !INSTRUCTS.test(sentence));
  const found = [passages.flatMap(sentencesOf), quotable].map((source) => best(source, topics));
  const chosen = found.find((candidates) => candidates.length > 0);
  return chosen?.map(({ sentence }) => sentence).join(' ');
}
