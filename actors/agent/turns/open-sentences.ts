/**
 * Sentences that look whole and call for more, by language: a clause without its main clause ("If it rains on Saturday"), and
 * announcements ("I have a question", "Can you tell me"). Recognisers put a full stop behind both.
 */
import type { Language } from '../../../contracts/speech/languages.js';

interface OpenSentences {
  /** Words before a sentence that do not change what it is. */
  readonly leads: RegExp;
  /** Beginnings of clauses that never stand alone. */
  readonly conditions: RegExp;
  /** Beginnings of clauses that may, as the answer to "why?" or "when?". */
  readonly reasons: RegExp;
  /** In a sentence that begins so: its main clause has begun. */
  readonly main: RegExp;
  /** Ends after which something must come. */
  readonly demands: RegExp;
  /** Words before such an end that stand for what would come: "which documents do I need". */
  readonly fronted: RegExp;
  /** Ends after which something is meant to come, though whoever listens may have to say "yes?" first. */
  readonly announces: RegExp;
}

/** What can never match. */
const NONE = '(?!)';
const begins = (words: string): RegExp => new RegExp(`^(?:${words})(?=\\s|$)`, 'u');
const ends = (words: string): RegExp => new RegExp(`(?:^|\\s)(?:${words})$`, 'u');
const word = (words: string): RegExp => new RegExp(`(?:^|\\s)${words}\\s`, 'u');
const has = (words: string): RegExp => new RegExp(`[,;:](?=\\s)|\\s(?:${words})\\s`, 'u');
/** For languages without blanks. */
const unparted = { begins: (words: string): RegExp => new RegExp(`^(?:${words})`, 'u') } as const;
const anywhere = (words: string): RegExp => new RegExp(words, 'u');
const endsAnywhere = (words: string): RegExp => new RegExp(`(?:${words})$`, 'u');

/** All patterns are for lower-case text without apostrophes; each is a list of alternatives. */
const OPEN_SENTENCES: Readonly<Record<Language, OpenSentences>> = {
  en: {
    leads: begins(
      'and|so|but|well|um|uh|okay|ok|yes|yeah|no|hi|hello|hey|please|also|actually|now|sorry|listen|look|oh|good morning|' +
        'good afternoon|good evening|you know|i mean|because you see',
    ),
    conditions: begins(
      'if|unless|whether|although|though|even though|even if|whereas|provided|providing|supposing|assuming|in case|as long as|' +
        'given that|now that|instead of|apart from|despite|in spite of|according to|regarding|concerning|depending on',
    ),
    reasons: begins(
      'because|(?:when|whenever|while|since|before|after|until|once|as|as soon as|by the time|every time|the last time|last time) ' +
        '(?:i|im|ive|id|you|youre|youve|we|were|weve|he|hes|she|shes|it|its|they|theyre|somebody|someone|everybody|everyone|' +
        'my|your|our|his|her|their|the|this|that|there)',
    ),
    main: has('then'),
    demands: ends(
      '(?:tell|show|give|send|let|ask|remind|explain to) (?:me|us)(?: to)?|(?:was|were|am|im|are|been) (?:just )?wondering|' +
        '(?:id|would) like to know|(?:want|wanted|need|like|trying) to (?:know|find out|ask|say|tell you|ask you|see if)|' +
        '(?:i|we)(?: just| really| still)? (?:would like|id like|need|want|wanted)|id like|' +
        '(?:im|i am|were|we are) (?:calling|asking)|' +
        'what i (?:mean|want|wanted|need) is|what (?:happened|happens) (?:is|was)|the (?:thing|problem|question|trouble|point|reason|idea|fact) is|' +
        '(?:it|that) depends on|(?<=^)i (?:think|guess|believe|suppose|mean|hope|feel like|assume)|(?:looks|seems|sounds|feels) like|as well as|such as|' +
        'for example|for instance|first of all|by the way|to be honest|in other words|on the other hand|on the one hand|im|ive|youre|youve|weve|theyre|theyve|lets|' +
        'between|during|without|towards|against|via|per|except',
    ),
    fronted: word('(?:what|which|who|whom|whose|how much|how many|how long)'),
    announces: ends(
      '(?:have|had|got|is|are|theres|just|only|about)(?: just| only| still)? (?:a|an|one|one more|another|two|three|some|a few|a couple of|several|different|this)' +
        '(?: \\w+)? (?:questions?|problems?|issues?|things?|requests?|favou?rs?|complaints?|points?|suggestions?|ideas?|options|reasons|changes)|' +
        'have (?:questions|problems)|(?:ask|tell|say|know|explain|mention|report|discuss|add|request|with|about|for|have|is) (?:you )?(?:something|something else|one thing|one more thing|another thing|anything)|' +
        '(?:ask|do me) (?:you )?(?:for )?(?:a|another|one more|one|this|some) (?:\\w+ )?(?:questions?|favou?r|thing|things)|' +
        'need (?:(?:your|some|a little|a bit of) )?(?:help|advice|information)|help me|help me out|(?:let me|ill|i will|i can) (?:tell you|explain|explain it|think|see|check|try again|spell it|spell that)|' +
        'heres (?:the thing|my question|the problem|what happened|my problem|my number)|here is (?:the thing|my question|the problem|what happened|my number)|' +
        'the (?:address|number|name|code|date|email) (?:is )?(?:the )?following|the following|as follows|listen|guess what|' +
        '(?:like|want|wanted|need) to (?:make a (?:complaint|request|suggestion|change)|make some changes|ask a question|change something|report a problem|place an order|book|order|buy|change|check)|' +
        '(?:im|i am|were|we are) (?:just )?(?:looking|interested|worried)',
    ),
  },
  es: {
    leads: begins(
      'y|pues|bueno|eh|este|sí|no|hola|oiga|oye|mire|mira|por favor|buenos días|buenas tardes|perdone|además',
    ),
    conditions: begins(
      'si|aunque|a menos que|a no ser que|en caso de que|siempre que|según|a pesar de|en lugar de',
    ),
    reasons: begins(
      'porque|cuando|mientras|antes de que|después de que|hasta que|desde que|en cuanto|como|ya que|cada vez que|la última vez que',
    ),
    main: has('entonces'),
    demands: ends(
      '(?:dígame|dime|decirme|dígales?|explicarme|ayudarme a|me gustaría|quisiera|quiero|necesito|me gustaría saber|quería (?:saber|preguntar|decir|pedir)|' +
        'quisiera (?:saber|preguntar)|estoy (?:buscando|llamando)|me preguntaba|lo que (?:quiero|pasa) es|el problema es|la cosa es|es decir|por ejemplo|' +
        '(?<=^)(?:creo|pienso|supongo|espero)|además|entre|sin|sobre|hacia|según)',
    ),
    fronted: word('(?:qué|cuál|cuáles|quién|quiénes|cuánto|cuánta|cuántos|cuántas)'),
    announces: ends(
      '(?:tengo|tenía|hay) (?:una|otra|un|otro|dos|tres|unas|unos|algunas|algunos|varias) (?:\\p{L}+ )?(?:preguntas?|dudas?|problemas?|consultas?|cosas?|quejas?)|' +
        '(?:preguntar|preguntarle|decir|decirle|pedir|pedirle|hacer|hacerle|comentar|comentarle) (?:algo|una cosa|una pregunta|otra cosa)|necesito (?:su )?ayuda|' +
        'necesito ayuda con algo|ayudarme|le (?:explico|cuento)|te (?:explico|cuento)|lo siguiente|a ver',
    ),
  },
  fr: {
    leads: begins(
      'et|alors|bon|ben|eh bien|euh|oui|non|bonjour|bonsoir|sil vous plaît|écoutez|écoute|en fait|pardon|excusez moi',
    ),
    conditions: begins(
      'si|sil|sils|bien que|quoique|même si|à moins que|au cas où|pourvu que|selon|malgré|au lieu de|à condition que',
    ),
    reasons: begins(
      'parce que|parce qu\\p{L}+|quand|lorsque|lorsqu\\p{L}+|pendant que|avant que|avant de|après que|jusquà ce que|depuis que|dès que|comme|puisque|' +
        'puisqu\\p{L}+|chaque fois que|la dernière fois que',
    ),
    main: has('alors'),
    demands: ends(
      '(?:dites moi|dis moi|me dire|mexpliquer|maider à|je voudrais|jaimerais|je veux|jai besoin|je (?:voulais|voudrais) (?:savoir|demander|dire|réserver)|' +
        'jaimerais savoir|je me demandais|je cherche|jappelle|ce que je veux dire cest|le problème cest|la chose cest|par exemple|cest à dire|' +
        '(?<=^)(?:je pense|je crois|jespère)|tout dabord|entre|sans|vers|chez|contre|selon)',
    ),
    fronted: word('(?:quel|quelle|quels|quelles|lequel|laquelle|quoi|combien|quest ce que|quest ce qui)'),
    announces: ends(
      '(?:jai|javais|il y a) (?:une|un|encore une|encore un|deux|trois|quelques|plusieurs) (?:\\p{L}+ )?(?:questions?|problèmes?|soucis?|choses?|demandes?|réclamations?)|' +
        '(?:demander|dire|poser|expliquer|signaler) (?:quelque chose|une chose|une question|autre chose)|jai besoin (?:de votre aide|daide|de ton aide)|maider|' +
        'je (?:vous )?explique|laissez moi (?:vous )?expliquer|la chose suivante|le suivant|ce qui suit|voyons',
    ),
  },
  de: {
    leads: begins(
      'und|also|ja|nein|äh|ähm|hallo|guten tag|guten morgen|guten abend|bitte|entschuldigung|hören sie|naja|na ja|gut|übrigens|eigentlich',
    ),
    conditions: begins(
      'wenn|falls|ob|obwohl|obgleich|sofern|selbst wenn|auch wenn|es sei denn|außer wenn|anstatt|statt|trotz|laut|je nachdem|vorausgesetzt|angenommen',
    ),
    reasons: begins(
      'weil|da (?:ich|wir|er|sie|es|mein|meine|unser|unsere|der|die|das)|als (?:ich|wir|er|sie|es|mein|meine|unser|unsere|der|die|das)|' +
        'nachdem|bevor|ehe|während (?:ich|wir|er|sie|es)|seit (?:ich|wir|er|sie|es)|seitdem|sobald|solange|bis (?:ich|wir|er|sie|es|der|die|das)|damit|indem|jedes mal wenn',
    ),
    main: has('dann'),
    demands: ends(
      '(?:sagen sie mir|sag mir|mir sagen|mir erklären|ich (?:möchte|brauche|will|suche|würde|wollte|hätte|hätte gern|hätte gerne|möchte gern|würde gern|würde gerne)|' +
        'wir (?:möchten|brauchen|suchen|hätten|wollen)|ich (?:möchte|wollte|würde gerne?) (?:wissen|fragen|sagen)|ich frage mich|ich rufe|was ich meine ist|' +
        'das problem ist|die sache ist|es geht um|zum beispiel|das heißt|(?<=^)ich (?:glaube|denke|meine|hoffe|vermute)|' +
        'erstens|zunächst|zwischen|ohne|gegen|durch|wegen)',
    ),
    fronted: word('(?:was|welche[rsmn]?|wer|wen|wem|wie ?viele?)'),
    announces: ends(
      '(?:habe|hätte|gibt es|gibt|es gibt) (?:da |noch |nur |mal |noch mal )*(?:eine|ein|einen|zwei|drei|noch eine|noch ein|ein paar|einige|mehrere) ' +
        '(?:\\p{L}+ )?(?:fragen?|problem|probleme|anliegen|bitte|dinge|sachen|punkte|beschwerde|wunsch)|' +
        '(?:etwas|was|eine frage|noch etwas|noch was|eine sache|kurz etwas) (?:fragen|sagen|stellen|wissen|bitten|melden|besprechen)|' +
        '(?:brauche|bräuchte) (?:mal |ihre |deine |etwas |ein bisschen )*(?:hilfe|rat|auskunft)|mir helfen|folgendes|folgendermaßen|folgende|' +
        'ich (?:erkläre|erzähle) (?:ihnen |dir )?(?:das |es )?(?:mal|kurz)?|hören sie zu|passen sie auf|mal sehen',
    ),
  },
  ja: {
    leads: unparted.begins('えっと|えーと|あの|その|はい|いいえ|すみません|こんにちは|もしもし'),
    conditions: anywhere(NONE),
    reasons: anywhere(NONE),
    main: anywhere('、.'),
    demands: endsAnywhere(
      'たら|なら|れば|けれども|けれど|ながら|ために|場合は|時は|ときは|ついて|関して|によると|たとえば|例えば|まず|つまり|実は|なので',
    ),
    fronted: anywhere('何|なに|どの|どれ|誰|いくつ|いくら'),
    announces: endsAnywhere(
      '質問があります|質問があるんです(?:が|けど)?|お聞きしたいことがあります|聞きたいことがあります|お願いがあります|お願いがあるんです(?:が|けど)?|相談があります|' +
        '問題があります|困っています|困ってます|(?:ですが|ますが|ですけど|ますけど|んですが|んですけど|のですが|ので|たので)|次の通りです',
    ),
  },
  zh: {
    leads: unparted.begins('嗯|那个|你好|您好|喂|请问一下|不好意思|是的|好的|对了'),
    conditions: unparted.begins('如果|要是|假如|虽然|尽管|除非|不管|无论|只要|即使|关于|根据|除了'),
    reasons: unparted.begins('因为|由于|当|等到|自从'),
    main: anywhere('[，,].|就|那么|所以|但'),
    demands: endsAnywhere(
      '告诉我|请问|我想|我要|我需要|我想问|我想知道|我想要|我觉得|我认为|我希望|比如|比如说|例如|首先|也就是说|问题是|我的意思是|的时候|的话|之后|之前|以后|以前',
    ),
    fronted: anywhere('什么|哪|谁|多少|几'),
    announces: endsAnywhere(
      '(?:有|问)(?:一|两|几)?个?(?:小)?(?:问题|事情|事|请求)|我需要帮助|帮我一下|帮帮我|我跟你说|我告诉你|是这样的|让我想想|我想想',
    ),
  },
  ko: {
    leads: begins('음|어|저기요|저기|네|아니요|안녕하세요|여보세요|죄송한데요|그리고'),
    conditions: anywhere(NONE),
    reasons: anywhere(NONE),
    main: has('그러면'),
    demands: endsAnywhere(
      '(?:[으하가오되보이거주나사]니까|[가-힣](?:면|으면|지만|라서|려고|면서|거나|다면|더라도)|[가-힣] ?때|[가-힣]기 ?(?:전에|때문에)|[가-힣] ?(?:후에|다음에)|에 ?대해(?:서)?|예를 ?들면|예를 ?들어|우선|먼저|사실은?|제 ?생각에는)',
    ),
    fronted: anywhere('무엇|뭐|뭘|어느|어떤|누구|몇|얼마'),
    announces: endsAnywhere(
      '(?:질문|문제|문의|부탁|궁금한 ?게|궁금한 ?것|물어볼 ?게|여쭤볼 ?게)(?:이|가|드릴 ?게)? ?(?:하나 ?|몇 ?가지 ?)?(?:있어요|있습니다|있는데요|있어서요)|도움이 ?필요(?:해요|합니다)|' +
        '(?:는데요|은데요|ㄴ데요|한데요|인데요|거든요)|다음과 ?같습니다|잠깐만요|글쎄요',
    ),
  },
};

/** More of a sentence than this is not looked at: a caller's may be long, and only its ends count. */
const MOST = 400;
const TERMINATORS = /[.!?。！？…]+(?=\s|$)|[。！？]+/u;

/** The last sentence, in lower case, without apostrophes and without the signs at its ends. */
const lastSentence = (text: string): string =>
  (
    text
      .toLowerCase()
      .slice(-MOST)
      .split(TERMINATORS)
      .map((part) => part.trim())
      .findLast((part) => /[\p{L}\p{N}]/u.test(part)) ?? ''
  )
    .replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, '')
    .replace(/['’]/gu, '');

/** The sentence without the words before it, of which there may be several. */
function withoutLeads(sentence: string, leads: RegExp): string {
  const rest = sentence.replace(leads, '').replace(/^[\s,，、]+/u, '');
  return rest === sentence || rest === '' ? sentence : withoutLeads(rest, leads);
}

/** A longer clause may have its main clause in it, without a comma. */
const MOST_WORDS_OF_CLAUSE = 9;
const isLong = (clause: string): boolean => clause.split(' ').length > MOST_WORDS_OF_CLAUSE;

/** Beginnings of questions that look like clauses: "when do you close". */
const ASKS = /^(?:when|while|if) (?:do|does|did|is|are|was|will|can|could|should|would|shall|has|have)\s/u;

/** Whether its end calls for what has not been named before it. */
function isDemanding(sentence: string, { demands, fronted }: OpenSentences): boolean {
  const end = demands.exec(sentence);
  return end !== null && !fronted.test(sentence.slice(0, end.index + 1));
}

/** The last sentence as the tables have it: in lower case, without apostrophes, signs at its ends and words before it. */
export const sentenceIn = (text: string, language: Language): string =>
  withoutLeads(lastSentence(text), OPEN_SENTENCES[language].leads);

/**
 * How much the last sentence calls for more: `wanting` if it cannot be the end, `announcing` if it may be but is hardly; undefined
 * if nothing in it says so.
 */
export function opennessOf(text: string, language: Language): 'wanting' | 'announcing' | undefined {
  const open = OPEN_SENTENCES[language];
  const sentence = sentenceIn(text, language);
  if (isDemanding(sentence, open)) return 'wanting';
  if (open.announces.test(sentence)) return 'announcing';
  if (open.main.test(sentence) || ASKS.test(sentence)) return undefined;
  if (open.conditions.test(sentence)) return isLong(sentence) ? 'announcing' : 'wanting';
  return open.reasons.test(sentence) && !isLong(sentence) ? 'announcing' : undefined;
}
