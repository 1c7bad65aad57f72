import type { Title } from './titles.ts';

/** The numbers of the rules in a spec file: list items such as `- W19 A sweep never misses an answer.` */
export function rulesIn(markdown: string): string[] {
  return [...markdown.matchAll(/^[-*] +(?:\*\*)?([A-Z]\d+)\b/gm)].map(([, rule]) => rule as string);
}

/** The rules that a title cites: `[W19] …`, `[W1][W2] …` or `[W1, W2] …`. */
export function citedIn(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]\d+(?:, *[A-Z]\d+)*)\]/g)].flatMap(([, list]) =>
    (list as string).split(/, */),
  );
}

// Here every test must cite a rule. Elsewhere a test may also be about something smaller.
const MUST_CITE = ['packages/server/src/protocols/', 'test/conformance/'];

/** Everything that is wrong between rules and tests, as sentences; empty when all is well. */
export function findings(rules: readonly string[], titles: readonly Title[]): string[] {
  const cited = new Set(titles.flatMap(({ text }) => citedIn(text ?? '')));
  return [
    ...rules
      .filter((rule, at) => rules.indexOf(rule) !== at)
      .map((rule) => `rule ${rule} stands in spec/ twice`),
    ...rules
      .filter((rule) => !cited.has(rule))
      .map((rule) => `rule ${rule} has no test: no title cites [${rule}]`),
    ...titles.flatMap((title) => unknownIn(title, rules)),
    ...titles
      .filter(citesNothing)
      .map(({ file, text }) => `${file}: "${text ?? 'a computed title'}" cites no rule`),
  ];
}

const unknownIn = ({ file, text }: Title, rules: readonly string[]) =>
  citedIn(text ?? '')
    .filter((rule) => !rules.includes(rule))
    .map((rule) => `${file}: "${text}" cites ${rule}, which no file in spec/ has`);

const citesNothing = ({ file, text }: Title) =>
  MUST_CITE.some((folder) => file.startsWith(folder)) && citedIn(text ?? '').length === 0;
