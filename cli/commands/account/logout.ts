import type { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { chosenLogin } from '../../login/connect.ts';
import { loginFile, readLogins, writeLogins } from '../../login/saved-logins.ts';
import { clientOf, serviceUrl } from '../../login/service.ts';
import { command } from '../command.ts';

export const logoutCommand = command({
  brief: 'Sign out: revoke the token and remove it here',
  help: 'Example:\n  mps logout',
  args: [{ brief: 'Address of the service', placeholder: 'URL', parse: String, optional: true }],
  async run(_, given) {
    const url = given === undefined ? (await chosenLogin(this.env)).url : serviceUrl(given);
    const file = loginFile(this.env);
    const logins = await readLogins(file);
    const login = logins.find((one) => one.url === url);
    if (login === undefined) {
      this.printer.say(`You are not signed in to ${url}.`);
      return;
    }
    // Remove the login locally even if the service fails. Revoke the token so it ends at once.
    await writeLogins(
      file,
      logins.filter((one) => one !== login),
    );
    await clientOf(url, login.token)
      .call<typeof deleteToken>('DELETE /auth/token')
      .catch((error: unknown) => {
        // A 401 means that the token had already ended.
        if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      });
    this.printer.say(`Signed out of ${url}.`);
  },
});
