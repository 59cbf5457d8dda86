/**
 * The names of the fields of a type in an SDK's typings, as they go over the wire. Some SDKs declare fields in camel case and
 * send them in snake case.
 */
import fs from 'node:fs';
import { parseSync } from 'oxc-parser';
import { SetupError } from '../setup/failure.mjs';

/** The members that a type has of its own, or lists; undefined for a type that is none of fields. */
const membersOf = (node) => node?.body?.body ?? node?.members;

const nameOf = ({ key }) => key?.name ?? key?.value;

/** A field may be declared only to say that there is none. */
const isField = ({ type, typeAnnotation }) =>
  type === 'TSPropertySignature' && typeAnnotation?.typeAnnotation?.type !== 'TSNeverKeyword';

/** Every interface and alias of a file by its name, and those in a namespace by `Namespace.Name`. */
function declarationsOf(statements, prefix = '') {
  return statements.flatMap((statement) => {
    const declaration = statement.declaration ?? statement;
    const name = declaration?.id?.name;
    if (declaration?.type === 'TSModuleDeclaration')
      return declarationsOf(declaration.body.body, `${prefix}${name}.`);
    if (declaration?.type === 'TSInterfaceDeclaration') return [[prefix + name, declaration]];
    if (declaration?.type !== 'TSTypeAliasDeclaration') return [];
    return [[prefix + name, declaration.typeAnnotation]];
  });
}

const files = new Map();

function typesIn(file) {
  const known = files.get(file);
  if (known) return known;
  const { program } = parseSync(file, fs.readFileSync(file, 'utf8'), { lang: 'dts' });
  const types = new Map(declarationsOf(program.body));
  files.set(file, types);
  return types;
}

/** The fields of the types that an interface extends, where the same file has them. */
const inherited = (file, node) =>
  (node.extends ?? []).flatMap(({ expression }) =>
    typesIn(file).has(expression?.name) ? fieldsOf(file, expression.name) : [],
  );

/** The names of the fields as the file declares them, of a type with those that it extends. */
export function fieldsOf(file, type) {
  const node = typesIn(file).get(type);
  const members = membersOf(node);
  if (!members) throw new SetupError(`${file} has no fields of a type ${type}`);
  const own = members.filter(isField).map(nameOf);
  return [...inherited(file, node), ...own];
}

/** `voiceSettings` as `voice_settings`. */
export const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
