/**
 * The language of a text in Latin letters by its common words: articles, pronouns, prepositions, greetings. Sentences
 * contain them, names and brands do not: "Zoë Müller lives in São Paulo." is English. The more languages have a word, the
 * less it counts. English is the default.
 */
import type { LanguageCode } from '../../contracts/speech/languages.js';

const WORDS: Readonly<Record<LanguageCode, string>> = {
  en: `the of and to in is you that it he was for on are as with his they at be this have from or one
    had by not but what all were we when your can said there use an each which she do how their if will up
    other about out many then them these so some her would make like him into has look two more go see no
    could my than been who its now did get come made may yes please thank thanks hello good morning what's
    it's i'm i'd don't let's our am call me time new end man men over under most son ten war fast hat also
    us test text why where any every never always very much first second day days year years work right left
    order number name agent session met bare tag comment main want value between say`,
  es: `de la que el en los se del las un por con no una su para es al lo como más pero sus le ya este sí
    porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno
    les ni contra otros ese eso ante ellos esto mí antes algunos qué unos yo otro otras otra él tanto esa
    estos mucho nada poco ella estar está estás estamos están soy eres somos son hola gracias muchas buenos
    buenas días tardes noches adiós favor claro quiero quisiera puede puedo tengo tiene usted cómo cuándo
    dónde hoy mañana ahora aquí ha hemos lunes martes
    miércoles jueves viernes sábado enero febrero abril mayo junio julio septiembre octubre noviembre
    diciembre`,
  fr: `de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont avec son
    elle on nous vous je tu mais ou où donc leur leurs ses aux cette ces sa mon ma mes ton ta tes votre vos
    notre nos été être avoir ont suis sommes êtes fait faire comme tout tous toute bien très aussi même si
    peut peux quand quel quelle comment pourquoi merci bonjour bonsoir revoir oui non s'il plaît voudrais
    ici maintenant aujourd'hui demain beaucoup lundi mardi mercredi jeudi vendredi samedi dimanche janvier
    février avril juin juillet août septembre octobre novembre décembre heure heures c'est d'une d'un qu'il n'est j'ai l'on d' l' j' n' qu' s' c'
    m' t'`,
  de: `der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden
    aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder
    aber vor zur bis mehr durch man sein wurde sei ich du wir ihr ihre ihren ihrem ihrer ihnen mir mich dich
    uns euch was wer wo wann warum kann können möchte muss soll bitte danke guten guter gute tag morgen
    abend hallo ja nein kein keine heute jetzt hier dann vielen schön sehr gern gerne wiedersehen uhr
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober
    dezember`,
  it: `di il la che in per un del le una con non si da della al dei come più nel alla ha sono gli anche ma
    lo su se delle mi ci questo questa quello suo sua io tu lei noi voi loro ciao buongiorno buonasera
    grazie prego sì stato essere hanno dove quando perché molto vorrei può posso oggi domani ora qui dell'
    l' un' c'è favore è siamo sei tutto tutti tutta giorno giorni stata stati sera notte pomeriggio
    lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio
    settembre ottobre novembre dicembre alle ore`,
  pt: `de que do da em um para com não uma os no se na por mais as dos como mas foi ao ele das tem seu sua
    ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos
    ter seus quem nas me esse eles estão você tinha foram essa num nem suas meu minha olá obrigado obrigada
    bom boa dia tarde noite sim onde hoje amanhã agora aqui quero queria pode posso
    janeiro fevereiro março abril maio junho julho setembro outubro novembro dezembro`,
  nl: `de het een en van ik te dat die in is niet zijn op aan met als voor had er maar om hem dan zou of wat
    mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze uw
    want nog zal me zij nu ge geen omdat iets worden toch al waren veel meer doen moet ben zonder kan hun
    dus alles onder ja eens hier wie werd goedendag goedemorgen hallo dank bedankt alstublieft wij jij gaat
    graag vandaag morgen`,
  pl: `na do się nie to że jest jak po co za od ale tak przez dla czy przy są był było być już tylko ten ta
    te tego jego jej ich mi mnie ci cię pan pani my wy oni dzień dobry dziękuję proszę cześć gdzie kiedy
    dlaczego bardzo można mam ma mogę chcę dziś jutro teraz tu`,
  sv: `och att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan
    när år under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra
    mycket än här då sedan över bara blir upp även in hon ni du hej tack god dag varför hur vad mig dig er`,
  da: `og at det som en på er af for med til den har de ikke om et han men var jeg sig fra vi så kan når år
    under også efter eller nu sin hvor ved mod skal skulle kommer ud får være havde alle andre meget end her
    da over kun bliver op hun du hej tak god dag hvorfor hvordan hvad mig dig jer`,
  nb: `og at det som en på er av for med til den har de ikke om et han men var jeg seg fra vi så kan når år
    under også etter eller nå sin hvor ved mot skal skulle kommer ut får være hadde alle andre mye enn her
    da over bare blir opp hun du hei takk god dag hvorfor hvordan hva meg deg`,
  fi: `ja on ei että se hän oli olla kun mutta niin kuin joka mitä minä sinä me te he tämä ovat ole myös tai
    jos vain nyt sitten kanssa mukaan jo vielä hyvää päivää kiitos hei missä milloin miksi miten voin haluan
    tänään huomenna`,
  cs: `se na je že do to ve pro jsem by ale jako za od po ze aby si tak co nebo jsou byl bylo být jsme už
    jen ten ta který která podle jeho její dobrý den děkuji prosím ahoj kde kdy proč jak mám může mohu dnes
    zítra teď tady`,
  hu: `az és hogy nem is egy ez meg csak de van volt már még mint ha vagy ezt azt én te mi ti ők igen jó
    napot köszönöm kérem szia hol mikor miért hogyan nagyon lehet kell ma holnap most itt`,
  ro: `de și în la cu pe nu că se un este pentru din care mai ca sunt sau dar fi al ale au am fost el ea noi
    voi ei după bună ziua mulțumesc rog salut unde când cum foarte poate pot vreau azi mâine acum aici`,
  tr: `ve bir bu da de için ile çok ne daha gibi kadar ama ben sen biz siz onlar var yok mı mi değil olarak
    olan sonra her en merhaba günaydın teşekkür ederim lütfen evet hayır nerede nasıl neden bugün yarın
    şimdi burada`,
};

const LANGUAGES_OF = new Map<string, LanguageCode[]>();
for (const [code, words] of Object.entries(WORDS))
  for (const word of new Set(words.split(/\s+/)))
    LANGUAGES_OF.set(word, [...(LANGUAGES_OF.get(word) ?? []), code]);

/** A word, including contractions with an apostrophe (`l'`, `don't`). */
const WORD = /\p{L}+(?:['’]\p{L}*)?/gu;
/** Examined length of a text. */
const MOST_CHARACTERS = 2000;
/** Least weight of another language, and its least lead over English and over any third language. */
const LIKELY = { least: 0.6, english: 1.3, other: 1 };
const SURE = { least: 2.5, english: 3, other: 1.5 };
const NONE = ['en', 0] as const;

export interface LikelyLanguage {
  readonly language: LanguageCode;
  /** Whether another language is very unlikely. */
  readonly sure: boolean;
}

function languagesOf(word: string): readonly LanguageCode[] {
  const elided = word.slice(0, word.indexOf("'") + 1);
  return LANGUAGES_OF.get(word) ?? LANGUAGES_OF.get(elided) ?? [];
}

/** For each word of the text, the languages in which it is common. */
function* languagesOfWords(text: string): Generator<readonly LanguageCode[]> {
  for (const [found] of text.slice(0, MOST_CHARACTERS).matchAll(WORD))
    yield languagesOf(found.toLowerCase().replace('’', "'"));
}

/** Whether no word of the text is common in any language: it holds numbers, names or brands alone. */
export function isNeutral(text: string): boolean {
  for (const languages of languagesOfWords(text)) if (languages.length > 0) return false;
  return true;
}

/** The language other than English that the words of a text indicate; undefined if they indicate none. */
export function languageByWords(text: string): LikelyLanguage | undefined {
  const weights = new Map<LanguageCode, number>();
  for (const languages of languagesOfWords(text)) {
    for (const code of languages) weights.set(code, (weights.get(code) ?? 0) + 1 / languages.length);
  }
  const english = weights.get('en') ?? 0;
  weights.delete('en');
  const [[language, weight] = NONE, [, next] = NONE] = [...weights].sort(([, a], [, b]) => b - a);
  const exceeds = ({ least, english: ahead, other }: typeof LIKELY): boolean =>
    weight >= least && weight > english * ahead && weight >= next * other;
  return exceeds(LIKELY) ? { language, sure: exceeds(SURE) } : undefined;
}
