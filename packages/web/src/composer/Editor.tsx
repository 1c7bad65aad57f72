import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';

type Props = { language: 'json' | 'markdown'; label: string; text: string; onText: (text: string) => void };

const LOOK = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '2px' },
  '.cm-content': {
    fontFamily: 'var(--bytes)',
    fontSize: '0.8125rem',
    lineHeight: '1.25rem',
    padding: '8px',
    caretColor: 'var(--ink)',
  },
  '.cm-scroller': { maxHeight: '32vh', overflow: 'auto' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--selected) !important',
  },
});

/**
 * CodeMirror, loaded when needed. It lives in a shadow root: there it uses constructed style sheets, which the
 * content security policy allows; in the page itself it would write inline styles. Tab moves to the next field, as
 * everywhere else.
 */
export function Editor({ language, label, text, onText }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const tell = useRef(onText);
  tell.current = onText;
  const first = useRef(text);
  useEffect(() => {
    if (place.current === null) return;
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          history(),
          drawSelection(),
          bracketMatching(),
          keymap.of([...defaultKeymap, ...historyKeymap].filter((binding) => binding.key !== 'Mod-Enter')),
          language === 'json' ? json() : [],
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) tell.current(update.state.doc.toString());
          }),
          LOOK,
        ],
      }),
    });
    view.focus();
    return () => view.destroy();
  }, [language, label]);
  return <div ref={place} className="editor" />;
}
