import { useQuery } from '@tanstack/react-query';
import { Scroller } from '../frame/Scroller.tsx';
import { Text } from './Text.tsx';

/** The raw bytes at an address. They are not parsed, because parsing would already change some numbers. */
export function Bytes({ path }: { path: string }) {
  const { data, error } = useQuery({
    queryKey: ['raw', path],
    queryFn: async () => {
      const response = await fetch(path);
      if (!response.ok) throw new Error('not there');
      return response.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null) return <p className="said bad">The bytes could not be loaded.</p>;
  if (data === undefined) return null;
  return (
    <Scroller label="Exact bytes" className="code">
      <Text>{data}</Text>
    </Scroller>
  );
}
