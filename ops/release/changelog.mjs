/** Sections of CHANGELOG.md: `## 0.1.0 — 2026-12-01`, or `unreleased` in place of the day. */
export const UNRELEASED = 'unreleased';

const HEADING = /^## (\S+) — (\S+)$/m;

/** `{ date, text }` of a version; undefined if it has no section. */
export function sectionOf(changelog, version) {
  const found = changelog
    .split(/^(?=## )/m)
    .map((section) => ({ heading: HEADING.exec(section), section }))
    .find(({ heading }) => heading?.[1] === version);
  return found && { date: found.heading[2], text: found.section.replace(HEADING, '').trim() };
}
