/** Knowledge sources on the wire (docs/contract/platform.md 6.1). */
import { LIMITS } from '../limits.js';
import { INDEXING } from '../ports/agents/knowledge.js';
import { FOUND_BY } from '../sessions/turns.js';
import { Moment, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';

const limits = LIMITS.knowledge;

const Source = Type.String({
  format: 'binary',
  description:
    'A file .md or .txt, UTF-8, at most 1 MB, or .pdf or .html, at most 10 MB with 1 MB of text; not empty.',
});
const Name = text(limits.name, { description: 'Default: the name of the file.' });
const Description = text(limits.description);

/** The fields of the forms, without the file. */
export const KnowledgeFields = strict({
  name: Type.Optional(Name),
  description: Type.Optional(Description),
});
export type KnowledgeFields = Static<typeof KnowledgeFields>;

export const KnowledgeCreation = strict({ source: Source, ...KnowledgeFields.properties });
export const KnowledgeChange = strict({ source: Type.Optional(Source), ...KnowledgeFields.properties });

const ROW = {
  knowledge_source_id: Type.String(),
  workspace_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  file_name: Type.String(),
  size_bytes: Type.Integer({ description: 'Of its text.' }),
  chunk_count: Type.Integer({ description: 'Passages that a search can find' }),
  language: Type.String({
    description: 'Of its text, by which its words are found: ISO 639-1, or und.',
  }),
  indexing: Type.Enum([...INDEXING], {
    description:
      'Whether it can be found by meaning yet; failed: the model of embeddings did not answer, and is asked again; off: there is none.',
  }),
  revision_number: Type.Integer({ minimum: 1, description: 'Grows with each new content' }),
  created_at: Moment,
  updated_at: Moment,
};

const EXAMPLE = {
  knowledge_source_id: 'ks_5f0c8a1b2c3d4e5f60718293',
  workspace_id: 'ws_0a1b2c3d4e5f60718293a4b5',
  name: 'Opening hours',
  description: '',
  file_name: 'hours.md',
  size_bytes: 1480,
  chunk_count: 2,
  language: 'en',
  indexing: 'done',
  revision_number: 1,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};

export const KnowledgeQuery = strict(
  {
    query: text(
      { min: 1, max: limits.query },
      {
        description:
          'As a caller would say it. What was said before may follow, a turn a line, the newest first.',
      },
    ),
    version_number: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 999_999_999, description: 'Absent: the draft.' }),
    ),
  },
  { examples: [{ query: 'When do you open on Mondays?' }] },
);

export const KnowledgeFound = Type.Object(
  {
    enabled: Type.Boolean({
      description: 'Whether the agent uses its knowledge; if not, it gets no passages.',
    }),
    passages: Type.Array(
      Type.Object({
        knowledge_source_id: Type.String(),
        name: Type.String({ description: "The source's." }),
        text: Type.String(),
        score: Type.Number({ description: 'Higher is better; comparable within one answer only.' }),
        found_by: Type.Enum([...FOUND_BY], { description: 'By its words, by meaning, or by both.' }),
      }),
      {
        description:
          `Best first, ${limits.passages} at most; or all sources as they are, with the score 1, if they have ` +
          `${limits.wholeBytes / 1024} KiB at most together: these are part of the agent’s instructions.`,
      },
    ),
  },
  {
    title: 'KnowledgeFound',
    examples: [
      {
        enabled: true,
        passages: [
          {
            knowledge_source_id: EXAMPLE.knowledge_source_id,
            name: EXAMPLE.name,
            text: '# Opening hours\nMonday to Friday, 7 to 18.',
            score: 0.03,
            found_by: 'both',
          },
        ],
      },
    ],
  },
);

export const KnowledgeRow = Type.Object(ROW, { title: 'KnowledgeSourceSummary', examples: [EXAMPLE] });
export const KnowledgeEntity = Type.Object(
  { ...ROW, content: Type.String() },
  {
    title: 'KnowledgeSource',
    examples: [{ ...EXAMPLE, content: '# Opening hours\n\nMonday to Friday, 7 to 18.' }],
  },
);
