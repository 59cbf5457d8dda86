/** The languages in which transcripts are written as people write them; others stay as they were heard. */
export const WRITTEN_LANGUAGES = ['en', 'de', 'es', 'fr'] as const;
export type WrittenLanguage = (typeof WRITTEN_LANGUAGES)[number];

export const isWrittenLanguage = (language: string): language is WrittenLanguage =>
  (WRITTEN_LANGUAGES as readonly string[]).includes(language);

/** A table whose rows are made when they are first needed. */
export function byLanguage<Row>(
  make: (language: WrittenLanguage) => Row,
): (language: WrittenLanguage) => Row {
  const rows = new Map<WrittenLanguage, Row>();
  return (language) => {
    const row = rows.get(language) ?? make(language);
    rows.set(language, row);
    return row;
  };
}
