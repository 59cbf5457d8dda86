/** Form uploads of a knowledge source (docs/contract/platform.md 6.1): .md or .txt in UTF-8 of at most 1 MB, .pdf or .html of at most 10 MB. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SourceFile } from '../../../contracts/ports/agents/knowledge.js';
import type { DocumentKind, DocumentReader } from '../../../contracts/ports/documents.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { KnowledgeFields } from '../../../contracts/schemas/knowledge.js';
import { isLonger } from '../../../contracts/text/text.js';
import { type Form, readMultipart, type UploadedFile } from '../../server/bodies/multipart.js';
import type { HttpRequest } from '../../server/port.js';
import { checked } from './checked.js';
import { invalid, problem } from './errors.js';

const { sourceBytes, fileName } = LIMITS.knowledge;
const { bytes: documentBytes } = LIMITS.document;
/** Most bytes read: files somewhat above the limit are read to the end, so that the sender gets the answer. */
const FORM_BYTES = documentBytes + 3 * sourceBytes;
const ENDINGS: Readonly<Record<string, DocumentKind | 'text'>> = {
  ...{ md: 'text', txt: 'text' },
  ...{ pdf: 'pdf', html: 'html', htm: 'html' },
};
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const checkFields = checked(KnowledgeFields);

export interface SourceUpload {
  readonly fields: KnowledgeFields;
  readonly file: UploadedFile | undefined;
  /** Problems with the file's presence or name. */
  readonly problems: readonly Problem[];
}

async function readForm(request: HttpRequest): Promise<Form> {
  const form = await readMultipart(request, { bodyBytes: FORM_BYTES, fileBytes: FORM_BYTES, files: 1 });
  const over = [...form.files.values()].find(({ filename, bytes }) => bytes.length > mostOf(filename));
  if (!over) return form;
  const message = `source is larger than ${mostOf(over.filename) / 1_000_000} MB`;
  throw new ServiceError('payload_too_large', { message, param: 'source' });
}

/** The file's name without its folders, which some browsers send too. */
const bareName = (name: string): string => (name.split(/[\\/]/).at(-1) ?? '').replaceAll('\0', '');

const kindOf = (name: string) => ENDINGS[/\.(\w+)$/.exec(bareName(name))?.[1]?.toLowerCase() ?? ''];

const isDocument = (kind: ReturnType<typeof kindOf>): kind is DocumentKind =>
  kind !== undefined && kind !== 'text';

const mostOf = (name: string): number => (isDocument(kindOf(name)) ? documentBytes : sourceBytes);

function nameProblems({ filename }: UploadedFile): Problem[] {
  const name = bareName(filename);
  if (kindOf(name) && !isLonger(name, fileName.max)) return [];
  return [
    problem(
      ['source'],
      `source must be a file .md, .txt, .pdf or .html with a name of at most ${fileName.max} characters`,
    ),
  ];
}

function fileProblems(form: Form): Problem[] {
  const file = form.files.get('source');
  const others = [...form.files.keys()].filter((name) => name !== 'source');
  return [
    ...(file ? nameProblems(file) : []),
    ...others.map((name) => problem([name], `unknown file ${name}`, 'additionalProperties')),
  ];
}

/** Errors: `unsupported_media_type`, `malformed_body`, `payload_too_large`, `validation_failed` for the fields. */
export async function readUpload(request: HttpRequest): Promise<SourceUpload> {
  const form = await readForm(request);
  const fields = checkFields(
    Object.fromEntries([...form.fields].map(([name, values]) => [name, values.at(-1)])),
  );
  return { fields, file: form.files.get('source'), problems: fileProblems(form) };
}

/** Undefined if it is none. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The text of the file. Errors: `invalid_request` if it is not text, `validation_failed` if it has no words; those of the reader of documents. */
export async function sourceFile(
  { filename, bytes }: UploadedFile,
  documents: DocumentReader,
  workspaceId: string,
): Promise<SourceFile> {
  const kind = kindOf(filename);
  if (isDocument(kind)) {
    const content = await documents.textOf(kind, bytes, workspaceId);
    return { fileName: bareName(filename), sizeBytes: Buffer.byteLength(content), content };
  }
  const content = textIn(bytes);
  if (content === undefined)
    throw new ServiceError('invalid_request', { message: 'source is not UTF-8 text', param: 'source' });
  if (content.trim() === '') throw invalid([problem(['source'], 'source is empty')]);
  return { fileName: bareName(filename), sizeBytes: bytes.length, content };
}
