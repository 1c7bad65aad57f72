import { Fault } from '../core/faults.ts';
import { readTexts } from '../http/texts.ts';

/** In the order in which the page offers them. */
export const FRAMEWORKS = [
  'general',
  'langgraph',
  'openai-agents',
  'vercel-ai',
  'claude-code',
  'plain-http',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** The ready text for an agent: how to reach us from its framework, and the rules that hold in all of them. */
export class Prompts {
  readonly #texts: ReadonlyMap<string, string> = readTexts('prompts');

  text(framework: Framework, agent: { id: string; url: string }): string {
    const words: Record<string, string> = {
      rules: this.#read('general').trimEnd(),
      url: agent.url,
      endpoint: `${agent.url}/wake/v1`,
      agent_id: agent.id,
    };
    // Twice: the rules hold places of their own.
    const fill = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (place, name) => words[name] ?? place);
    return fill(fill(this.#read(framework)));
  }

  #read(framework: Framework): string {
    const text = this.#texts.get(framework);
    if (text === undefined)
      throw new Fault('not_found', `There is no prompt for ${framework} on this server.`);
    return text;
  }
}
