import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { calmly, isNotThere } from '../api/refused.ts';
import { Copied } from '../frame/Copied.tsx';

const NAMES: Record<string, string> = {
  general: 'Any framework',
  langgraph: 'LangGraph, LangChain (JavaScript)',
  'langgraph-python': 'LangGraph, LangChain (Python)',
  'openai-agents': 'OpenAI Agents (JavaScript)',
  'openai-agents-python': 'OpenAI Agents (Python)',
  'pydantic-ai': 'Pydantic AI',
  'vercel-ai': 'Vercel AI SDK',
  mastra: 'Mastra',
  'google-adk': 'Google ADK (JavaScript)',
  'google-adk-python': 'Google ADK (Python)',
  n8n: 'n8n',
  'claude-code': 'Claude Code, Codex, Gemini CLI',
  'plain-http': 'Plain HTTP',
};

/** A ready-made prompt for the agent, for the framework it is written in. */
export function Prompt({ agent }: { agent: string }) {
  const [framework, setFramework] = useState<string | null>(null);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: ['agents', agent, 'prompt', framework],
    queryFn: () => desk.prompt(agent, framework),
    placeholderData: (old) => old,
  });
  // The list of frameworks stays when the text of the chosen one cannot be loaded.
  const [known, setKnown] = useState(data);
  if (data !== undefined && data !== known) setKnown(data);
  return (
    <section className="part" aria-label="Prompt">
      <h2>Prompt</h2>
      <p className="said">
        Give this to the agent. It says how to deliver, to wait, and what an answer means. The key is not in
        it.
      </p>
      {known !== undefined && (
        <div className="field">
          <label htmlFor="framework">Framework</label>
          <select
            id="framework"
            className="input"
            value={framework ?? known.framework}
            onChange={(event) => setFramework(event.target.value)}
          >
            {known.frameworks.map((name) => (
              <option key={name} value={name}>
                {NAMES[name] ?? name}
              </option>
            ))}
          </select>
        </div>
      )}
      {error !== null && (
        <p className="said">
          {isNotThere(error) ? 'This server has no prompts yet.' : calmly(error)}{' '}
          <button type="button" className="plain" onClick={() => void refetch()}>
            Try again
          </button>
        </p>
      )}
      {/* Never show the text of another framework under this one's name. */}
      {isPlaceholderData && <p className="said">One moment…</p>}
      {data !== undefined && !isPlaceholderData && (
        <div className="full">
          <Copied text={data.text} label="Copy the prompt" isLong />
        </div>
      )}
    </section>
  );
}
