import type { Tier } from '../../core/agents/key.ts';
import { counted } from '../../core/counted.ts';
import { Fault } from '../../core/faults.ts';
import type { Rate } from '../../core/rate.ts';
import { readTexts } from '../package-files.ts';
import { installLines } from './downloads.ts';

/** In the order in which the page offers them. */
export const FRAMEWORKS = [
  'general',
  'langgraph',
  'langgraph-python',
  'openai-agents',
  'openai-agents-python',
  'pydantic-ai',
  'vercel-ai',
  'mastra',
  'google-adk',
  'google-adk-python',
  'n8n',
  'claude-code',
  'plain-http',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export type PromptReader = {
  id: string;
  url: string;
  rates: Record<Tier, Rate>;
  /** The tier of the key that asks; null for a person, who may use it with any key. */
  tier: Tier | null;
};

/** The ready text for an agent: how to reach us from its framework, and the rules that hold in all of them. */
export class Prompts {
  readonly #texts: ReadonlyMap<string, string> = readTexts('prompts');

  text(framework: Framework, reader: PromptReader): string {
    const words: Record<string, string> = {
      rules: this.#read('general').trimEnd(),
      url: reader.url,
      endpoint: `${reader.url}/wake/v1`,
      agent_id: reader.id,
      rate: rateIn(reader),
      ...installLines(reader.url),
    };
    // Twice, because the inserted rules contain placeholders too. An n8n expression has spaces inside its braces and
    // is left alone.
    const fill = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (place, name) => words[name] ?? place);
    return fill(fill(this.#read(framework)));
  }

  #read(framework: Framework): string {
    const text = this.#texts.get(framework);
    if (text === undefined)
      throw new Fault('not_found', `There is no prompt for ${framework} on this server.`);
    return flowing(text);
  }
}

/** Lines that keep a line of their own: headings, list items, tables, code, and empty lines. */
const OWN_LINE = /^(#|[-*|>] |\d+\. |```|$)/;

/**
 * Joins each paragraph into one line: the files are wrapped at our width, and prompts are pasted elsewhere. Code
 * stays as it is.
 */
export function flowing(markdown: string): string {
  const lines: string[] = [];
  let isCode = false;
  let goesOn = false;
  for (const line of markdown.split('\n')) {
    const begun = isCode || !goesOn || OWN_LINE.test(line.trimStart()) ? undefined : lines.pop();
    lines.push(begun === undefined ? line : `${begun} ${line.trimStart()}`);
    if (line.startsWith('```')) isCode = !isCode;
    goesOn = !isCode && !/^(#|```|$)/.test(line);
  }
  return lines.join('\n');
}

function rateIn({ rates, tier }: PromptReader): string {
  const say = ({ perHour, burst }: Rate) =>
    `${counted(perHour, 'delivery')} an hour, at most ${burst} at once`;
  if (tier !== null) return `With your key ${say(rates[tier])}`;
  return `With a test key ${say(rates.test)}; with a live key ${say(rates.live)}`;
}
