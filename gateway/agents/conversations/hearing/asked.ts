/**
 * What the agent has asked the caller for, by the words of its question: an address of mail, a name, a spelling, a number, yes or no, a
 * count, a date. It tells how the answer is written (engines/text/written), and when it is whole (actors/agent/turns/expected-answers.ts);
 * an answer to something else is taken as it is.
 */
import { isQuestion } from '../../../../actors/agent/turns/endpointing.js';
import type { Question } from '../../../../actors/agent/turns/expected-answers.js';
import { ASKED, type Asked } from '../../../../engines/text/written/index.js';

import { isWrittenLanguage, type WrittenLanguage } from '../../../../engines/text/written/languages.js';

const word = (list: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${list})(?![\\p{L}\\p{N}])`, 'iu');

/** Words of questions, as alternatives of a pattern. */
const QUESTIONS: Readonly<Record<WrittenLanguage, Readonly<Record<Asked, RegExp>>>> = {
  en: {
    email: word('e-?mails?|mail address|email address'),
    name: word(
      '(?:first |last |full |family |sur)?names?|surname|who am i (?:speaking|talking) (?:to|with)|who is (?:calling|speaking)',
    ),
    spelling: word('spell|spelled|spelling|letters?|letter by letter|code|reference|plate|postcode|serial'),
    number: word(
      '(?:phone |account |order |customer |card |booking )?numbers?|digits?|pin|code|zip|postcode|extension|reference|plate|serial|phone',
    ),
    choice: word('(?:^|[.,!?] )(?:is|are|do|does|did|can|could|shall|should|would|will|have|has|was|were)'),
    count: word('how (?:many|old)'),
    date: word('dates?|which day|what day|when|birthday|born'),
  },
  de: {
    email: word('e-?mail(?:s|-?adresse)?|mailadresse'),
    name: word('(?:vor|nach|familien)?namen?|wie heißen sie|mit wem spreche ich|wer spricht'),
    spelling: word(
      'buchstabieren(?: sie)?|buchstabiert|buchstaben|code|kennzeichen|geschrieben|schreibt man',
    ),
    number: word('\\p{L}*nummer|ziffern?|pin|code|postleitzahl|kennzeichen'),
    choice: word(
      '(?:^|[.,!?] )(?:ist|sind|haben|hat|können|kann|möchten|wollen|soll|sollen|darf|dürfen|war|passt|stimmt)',
    ),
    count: word('wie ?viele?|wie alt'),
    date: word('datum|an welchem tag|welcher tag|wann|geburtstag|geboren'),
  },
  es: {
    email: word('correo(?: electrónico)?|e-?mail|mail'),
    name: word('nombres?|apellidos?|cómo se llama|con quién hablo|quién habla'),
    spelling: word('deletre(?:ar|e|a|arlo|armelo|ármelo)|letras?|código|matrícula|se escribe'),
    number: word('números?|dígitos?|pin|código|teléfono|matrícula'),
    choice: word('(?:^|[.,!?] )¿?(?:es|está|quiere|puede|desea|tiene|le|son|ha)'),
    count: word('cuánt[oa]s'),
    date: word('fechas?|qué día|cuándo|cumpleaños|nació|nacimiento'),
  },
  fr: {
    email: word('e-?mail|mail|courriel|adresse électronique'),
    name: word('(?:pré)?noms?|comment vous appelez-vous|à qui ai-je|qui est à l.appareil'),
    spelling: word('épeler|épelez|lettres?|code|immatriculation|s.écrit'),
    number: word('numéros?|chiffres?|pin|code|téléphone|immatriculation'),
    choice: word(
      '(?:^|[.,!?] )(?:est-ce|êtes-vous|avez-vous|voulez-vous|pouvez-vous|puis-je|souhaitez-vous|a-t-|est-)',
    ),
    count: word('combien (?:de|d.|êtes|serez)'),
    date: word('dates?|quel jour|quand|anniversaire|né|née|naissance'),
  },
};

/** Figures of numbers, by the words of the question: a pattern, and how many it says; undefined: its first group is the word for it. */
type Digits = readonly (readonly [asks: RegExp, digits: number | undefined])[];
const DIGITS: Readonly<Record<WrittenLanguage, Digits>> = {
  en: [
    [word('last (two|three|four|five|six) (?:digits|numbers)'), undefined],
    [word('(two|three|four|five|six)[- ](?:digits?|figures?)'), undefined],
    [word('pin'), 4],
    [word('zip(?: code)?'), 5],
  ],
  de: [
    [word('letzten (zwei|drei|vier|fünf|sechs) (?:ziffern|stellen|zahlen)'), undefined],
    [word('(zwei|drei|vier|fünf|sechs)stellige[nrs]?'), undefined],
    [word('pin'), 4],
    [word('postleitzahl'), 5],
  ],
  es: [
    [word('últim[oa]s (dos|tres|cuatro|cinco|seis) (?:dígitos|cifras|números)'), undefined],
    [word('de (dos|tres|cuatro|cinco|seis) (?:dígitos|cifras)'), undefined],
    [word('pin'), 4],
    [word('código postal'), 5],
    [word('teléfono'), 9],
  ],
  fr: [
    [word('(deux|trois|quatre|cinq|six) derniers chiffres'), undefined],
    [word('à (deux|trois|quatre|cinq|six) chiffres'), undefined],
    [word('pin'), 4],
    [word('code postal'), 5],
    [word('téléphone'), 10],
  ],
};
/** The words for two to six. */
const NUMBERS: Readonly<Record<WrittenLanguage, readonly string[]>> = {
  en: ['two', 'three', 'four', 'five', 'six'],
  de: ['zwei', 'drei', 'vier', 'fünf', 'sechs'],
  es: ['dos', 'tres', 'cuatro', 'cinco', 'seis'],
  fr: ['deux', 'trois', 'quatre', 'cinq', 'six'],
};

function digitsIn(question: string, language: WrittenLanguage): number | undefined {
  for (const [asks, digits] of DIGITS[language]) {
    const [found, said = ''] = asks.exec(question) ?? [];
    if (found !== undefined) return digits ?? NUMBERS[language].indexOf(said.toLowerCase()) + 2;
  }
  return undefined;
}

/** The last part of what the agent has said: a question is at its end. */
const MOST_CHARACTERS = 240;
/** The last two sentences: "Could you spell your name? I did not get it." */
const SENTENCES = 2;

export function lastSentences(said: string): string {
  const parts = said.slice(-MOST_CHARACTERS).match(/[^.!?。！？]+[.!?。！？]*/gu) ?? [];
  return parts.slice(-SENTENCES).join('').trim();
}

/** What `said` asks for; nothing in languages without words for it. */
export function askedIn(said: string, language: string): ReadonlySet<Asked> {
  if (!isWrittenLanguage(language)) return new Set();
  const question = lastSentences(said);
  return new Set(ASKED.filter((kind) => QUESTIONS[language][kind].test(question)));
}

/** The same for the agent's statechart, with how many figures a number has. */
export function questionIn(said: string, language: string): Question {
  const wants = [...askedIn(said, language)];
  const digits =
    isWrittenLanguage(language) && wants.includes('number')
      ? digitsIn(lastSentences(said), language)
      : undefined;
  return { isQuestion: isQuestion(said), wants, ...(digits !== undefined && { digits }) };
}
