import { useQuery } from '@tanstack/react-query';
import { agentNamesQuery } from '../api/questions.ts';

/** All agents as options, and the chosen one even if it is not (or no longer) among them. */
export function AgentOptions({ chosen }: { chosen: string | undefined }) {
  const { data } = useQuery(agentNamesQuery);
  const names = new Set(data?.names);
  if (chosen !== undefined && chosen !== '') names.add(chosen);
  return [...names].map((name) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
}
