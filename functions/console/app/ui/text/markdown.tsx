import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { useEffect, useRef } from 'preact/hooks';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * A note stands below a heading of the page, so its own headings are two levels lower. HTML in a note is shown as
 * text. If a browser parsed it, the browser would report each event handler in it as a violation of the page's
 * policy, even if the sanitizer removed the handler later.
 */
marked.use({
  renderer: {
    html: ({ text }) => text.replace(/[&<>"]/g, (character) => entities[character] ?? character),
  },
  walkTokens(token) {
    if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2);
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

/** Render Markdown of users with a small set of allowed elements. */
export function Markdown({ text }: { text: string }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const html = marked.parse(text, { async: false, gfm: true });
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
  }, [text]);
  return <div class="markdown" ref={holder} dir="auto" />;
}
