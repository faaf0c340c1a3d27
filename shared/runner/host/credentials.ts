const userInfos = /(?<=[a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*(?=@)/gi;

const netrcPasswords = /(?<=^|\s)password\s+(?:"([^"\r\n]*)"|(\S+))/g;

/** Find the credentials in a text: passwords and tokens in URLs, and passwords of a `.netrc`. */
export function credentialsIn(text: string): string[] {
  const inUrls = [...text.matchAll(userInfos)].flatMap(([info]) => ofUserInfo(info));
  const inNetrc = [...text.matchAll(netrcPasswords)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  return [...new Set([...inUrls, ...inNetrc])].filter((credential) => credential !== '');
}

/** Shortest user name without a password that counts as a token. Shorter ones are ordinary names. */
const shortestToken = 8;

function ofUserInfo(info: string): string[] {
  const colon = info.indexOf(':');
  if (colon === -1) return info.length < shortestToken ? [] : [info, meant(info)];
  const password = info.slice(colon + 1);
  // HTTP sends `user:password` in Base64, so the pair counts too.
  return password === '' ? [] : [password, meant(password), meant(info)];
}

/** The percent-decoded text. */
function meant(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** Return a text in the notations of JSON, URLs and headers. */
export function notationsOf(text: string): string[] {
  const base64 = Buffer.from(text).toString('base64').replace(/=+$/, '');
  return [
    ...new Set([
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text),
      base64,
      base64.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
  ];
}
