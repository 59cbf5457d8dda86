/**
 * Questions that are known by their words, in languages that have such an order: a recogniser may put a full stop behind one. What only
 * may be a question is none here ("When I arrived", "Have a nice day").
 */
import type { Language } from '../../../contracts/speech/languages.js';

/** Of a lower-case sentence without apostrophes: a question word and the verb, or the verb and its subject. */
const ASKING: Readonly<Partial<Record<Language, RegExp>>> = {
  en: new RegExp(
    '^(?:(?:what|when|where|why|who|which|whose|how)(?: \\S+){0,2}? (?:is|are|was|were|do|does|did|can|could|will|would|should|shall|has|have|may|must) |' +
      'how (?:much|many|long|far|often|old|late|early|soon) |whats |wheres |hows |whos |' +
      '(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|has|have|may|must) (?:i|you|he|she|it|we|they|there|this|that|the|my|your|our|his|her|their|any|anybody|anyone|somebody|someone) )',
    'u',
  ),
  de: new RegExp(
    '^(?:(?:was|wann|wo|warum|wieso|weshalb|wer|wen|wem|welche[rsmn]?|woher|wohin|wie)(?: \\S+){0,2}? (?:ist|sind|war|waren|hat|haben|kann|können|könnte|muss|müssen|soll|sollen|darf|dürfen|wird|werden|gibt|kostet|kosten|macht|machen) |' +
      'wie(?: ?viele?| lange| oft| weit| spät| teuer) |' +
      '(?:ist|sind|war|hat|habe|haben|kann|können|könnte|könnten|muss|müssen|soll|sollen|darf|dürfen|wird|werden|gibt|möchten|wollen) (?:ich|du|er|sie|es|wir|ihr|man|das|der|die|dieser?|ihre?|mein|meine|jemand) )',
    'u',
  ),
  es: /^(?:qué|cuál|cuáles|cuándo|dónde|adónde|por qué|quién|quiénes|cómo|cuánto|cuánta|cuántos|cuántas|a qué hora|en qué) /u,
  fr: new RegExp(
    '^(?:est[- ]ce qu\\S*|quest[- ]ce qu\\S*|pourquoi|où|combien|à quelle heure|quels? est|quelles? est|quels sont|quelles sont) |' +
      '^\\p{L}+-(?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles)(?= )|' +
      '^(?:quand|comment|où|pourquoi|quel\\S*)(?: \\S+){0,2}? \\p{L}+-(?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles)(?= |$)',
    'u',
  ),
};

/** Fewest words of a question that is known by its words alone. */
const LEAST_WORDS = 4;

export const isAsking = (sentence: string, language: Language): boolean =>
  sentence.split(' ').length >= LEAST_WORDS && (ASKING[language]?.test(sentence) ?? false);
