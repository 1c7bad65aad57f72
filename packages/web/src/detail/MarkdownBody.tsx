import { memo, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Scroller } from '../frame/Scroller.tsx';
import { Code } from './Code.tsx';
import { RemoteImage } from './RemoteImage.tsx';
import { reveal, showHtml } from './reveal.ts';
import { SafeLink } from './SafeLink.tsx';

const REMARK = [remarkGfm];
const REHYPE = [showHtml, rehypeSanitize, reveal];

/** An agent's markdown. Raw HTML in it stays text, and its headings are placed below ours. */
export const MarkdownBody = memo(function MarkdownBody({
  text,
  delivery,
}: {
  text: string;
  delivery: string;
}) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={components(delivery)}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

const Large = ({ children }: { children?: ReactNode }) => <h3>{children}</h3>;
const Small = ({ children }: { children?: ReactNode }) => <h4>{children}</h4>;

function components(delivery: string): Components {
  return {
    h1: Large,
    h2: Large,
    h3: Small,
    h4: Small,
    h5: Small,
    h6: Small,
    // Lists and quotations take their direction from their own words. Paragraphs and headings do too, but by the
    // stylesheet: with a `dir` of their own, their words would no longer count for the list around them.
    ul: ({ children, className }) => (
      <ul dir="auto" className={className}>
        {children}
      </ul>
    ),
    ol: ({ children, start }) => (
      <ol dir="auto" start={start}>
        {children}
      </ol>
    ),
    blockquote: ({ children }) => <blockquote dir="auto">{children}</blockquote>,
    a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
    img: ({ src, alt }) => (
      <RemoteImage delivery={delivery} src={typeof src === 'string' ? src : undefined} alt={alt ?? ''} />
    ),
    // A wide table scrolls by itself, and the keyboard can reach it.
    table: ({ children }) => (
      <Scroller label="Table">
        <table dir="auto">{children}</table>
      </Scroller>
    ),
    pre: ({ children }) => <>{children}</>,
    code: ({ className, children }) => {
      const language = /language-(\S+)/.exec(className ?? '')?.[1];
      const text = typeof children === 'string' ? children : null;
      if (language === undefined && (text === null || !text.includes('\n'))) return <code>{children}</code>;
      return <Code text={(text ?? String(children)).replace(/\n$/, '')} language={language} />;
    },
    input: ({ checked }) => <span aria-hidden="true">{checked === true ? '☑ ' : '☐ '}</span>,
  };
}
