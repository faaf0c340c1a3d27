import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { useEffect, useRef } from 'preact/hooks';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * HTML in a note is shown as
 * text. If a browser parsed it, the browser would report each event handler in it as a violation of the page's
 * policy, even if the sanitizer removed the handler later.
 */
marked.use({
  renderer: {
    html: ({ text }) => text.replace(/[&<>"]/g, (character) => entities[character] ?? character),
  },
});

/**
 * A note may hold text and its structure. It may hold no pictures, because a browser would load them from
 * elsewhere.
 */
const allowed = {
  ALLOWED_TAGS: [
    'p',
    'br',
    'hr',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'strong',
    'em',
    'del',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'a',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
  ],
  ALLOWED_ATTR: ['href', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  RETURN_DOM_FRAGMENT: true,
} as const;

/**
 * Render Markdown of users with a small set of allowed elements.
 * @param top level of its first heading. A note stands below a heading of the page
 */
export function Markdown({ text, top = 3 }: { text: string; top?: 2 | 3 }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const html = marked.parse(text, {
      async: false,
      gfm: true,
      walkTokens(token) {
        if (token.type === 'heading') token.depth = Math.min(6, token.depth + top - 1);
      },
    });
    const fragment = DOMPurify.sanitize(html, {
      ...allowed,
      ALLOWED_TAGS: [...allowed.ALLOWED_TAGS],
      ALLOWED_ATTR: [...allowed.ALLOWED_ATTR],
    });
    for (const link of fragment.querySelectorAll('a')) {
      link.rel = 'noopener noreferrer nofollow';
      link.target = '_blank';
    }
    holder.current?.replaceChildren(fragment);
  }, [text, top]);
  return <div class="markdown" ref={holder} dir="auto" />;
}
