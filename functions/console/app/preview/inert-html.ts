import { Parser } from 'htmlparser2';

/** Elements that show something and do nothing. */
const elements = new Set(
  (
    'a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup data dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu meter nav ol p pre progress q rp rt ruby s samp section small span strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr ' +
    'svg g path rect circle ellipse line polyline polygon text tspan defs lineargradient radialgradient stop clippath title desc'
  ).split(' '),
);
const svgElements = new Set(
  'svg g path rect circle ellipse line polyline polygon text tspan defs lineargradient radialgradient stop clippath'.split(
    ' ',
  ),
);
/** SVG names that HTML writes in lower case. */
const svgNames: Readonly<Record<string, string>> = {
  lineargradient: 'linearGradient',
  radialgradient: 'radialGradient',
  clippath: 'clipPath',
};
const svgAttributes: Readonly<Record<string, string>> = {
  viewbox: 'viewBox',
  preserveaspectratio: 'preserveAspectRatio',
};
const attributes =
  /^(?:class|id|title|alt|lang|dir|width|height|align|valign|colspan|rowspan|scope|open|value|max|min|start|color|size|bgcolor|border|cellpadding|cellspacing|datetime|aria-[a-z]+|role|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|dx|dy|points|fill|fill-opacity|fill-rule|stroke|stroke-[a-z]+|opacity|transform|viewbox|preserveaspectratio|text-anchor|dominant-baseline|font-[a-z]+|offset|stop-color|stop-opacity|clip-path)$/;

export interface InertHtml {
  /** Scripts and embedded pages that were left out. */
  leftOut: number;
}

/**
 * Build the elements of an HTML file within a document, without what could run, load or lead anywhere. The browser
 * never parses the file: it would report each handler of it as refused by the policy of the page.
 */
export function buildInert(text: string, into: Document): InertHtml {
  let parent: Element = into.body;
  let leftOut = 0;
  let hidden = 0;
  let styles = '';
  let isStyle = false;
  const hiding = new Set([
    'script',
    'iframe',
    'object',
    'embed',
    'noscript',
    'template',
    'video',
    'audio',
    'canvas',
    'title',
  ]);
  const parser = new Parser(
    {
      onopentag(name, given) {
        if (hidden > 0 || hiding.has(name)) {
          if (name !== 'noscript' && name !== 'template' && name !== 'title' && hidden === 0) leftOut += 1;
          hidden += 1;
          return;
        }
        if (name === 'style') {
          isStyle = true;
          return;
        }
        if (name === 'body' || name === 'html') {
          const className = given['class'];
          if (className !== undefined) into.body.className = className;
        }
        if (!elements.has(name)) return;
        const made = svgElements.has(name)
          ? into.createElementNS('http://www.w3.org/2000/svg', svgNames[name] ?? name)
          : into.createElement(name);
        for (const [attribute, value] of Object.entries(given)) {
          if (attribute === 'style') (made as HTMLElement).style.cssText = value;
          else if (attribute === 'src' && name === 'img' && /^data:image\//i.test(value))
            made.setAttribute('src', value);
          else if (attributes.test(attribute))
            made.setAttribute(svgAttributes[attribute] ?? attribute, value);
        }
        parent.append(made);
        parent = made;
      },
      ontext(part) {
        if (isStyle) styles += part;
        else if (hidden === 0) parent.append(part);
      },
      onclosetag(name) {
        if (hidden > 0) hidden -= 1;
        else if (name === 'style') isStyle = false;
        else if (elements.has(name) && parent !== into.body) parent = parent.parentElement ?? into.body;
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.end(text);
  const view = into.defaultView;
  if (view !== null) {
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(styles.replaceAll(/@import[^;]*;/gi, ''));
    into.adoptedStyleSheets = [...into.adoptedStyleSheets, sheet];
  }
  return { leftOut };
}
