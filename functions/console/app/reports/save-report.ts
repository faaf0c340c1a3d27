import { saveBlob } from '../ui/save.ts';

/**
 * Save a report as one file of HTML: what the page shows at this moment, with its pictures. The file has no script, loads
 * nothing, and its policy forbids both, whatever somebody wrote into the report.
 */
export async function saveReport(article: Element, title: string): Promise<void> {
  await untilLoaded(article);
  const copy = article.cloneNode(true) as Element;
  for (const part of copy.querySelectorAll('button, .for-writers')) part.remove();
  // Links to pages of the console lead nowhere from a file.
  for (const link of copy.querySelectorAll('a'))
    if (!/^(?:https?|mailto):/.test(link.getAttribute('href') ?? '')) link.replaceWith(...link.childNodes);
  const element = (name: 'title' | 'h1'): string => {
    const made = document.createElement(name);
    made.textContent = title;
    return made.outerHTML;
  };
  // The text of a style ends at its end tag alone, and the rules are the console's own.
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">${element('title')}
<style>${rulesOf(article).replaceAll('</', '<\\/')}</style></head>
<body class="saved-report">${element('h1')}${copy.outerHTML}</body></html>`;
  const name = title.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) || 'report';
  saveBlob(new Blob([html], { type: 'text/html' }), `${name}.html`);
}

const pause = 200;
const maxPauses = 300;

/** Wait until each block shows its data or its error. */
async function untilLoaded(article: Element): Promise<void> {
  for (let waited = 0; waited < maxPauses; waited += 1) {
    if (article.querySelector('[aria-busy="true"]') === null) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error('Some blocks of the report could not be loaded. Try again.');
}

/** Return the rules of the page's style sheets that the report uses, for light and dark. */
function rulesOf(article: Element): string {
  const isUsed = ({ selectorText }: CSSStyleRule): boolean =>
    /(?:^|[\s,])(?::root|html|body|h1|\*)(?=$|[\s,:.[])/.test(selectorText) ||
    selectorText.includes('.saved-report') ||
    [article, ...article.querySelectorAll('*')].some((element) => element.matches(selectorText));
  const kept = (rules: CSSRuleList): string[] =>
    [...rules].flatMap((rule) => {
      if (rule instanceof CSSStyleRule) return isUsed(rule) ? [rule.cssText] : [];
      if (!(rule instanceof CSSMediaRule)) return [];
      const within = kept(rule.cssRules).join('\n');
      return within === '' ? [] : [`@media ${rule.conditionText} {\n${within}\n}`];
    });
  return [...document.styleSheets, ...document.adoptedStyleSheets]
    .flatMap(({ cssRules }) => kept(cssRules))
    .join('\n');
}
