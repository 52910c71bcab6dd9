// A template with the Scaffolder fields for users and groups, and its check in
// the portal that scripts/test-install.mjs installs.

import assert from 'node:assert/strict';

/** The template, as a file of the catalog. */
export const FIELDS_TEMPLATE = `
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata:
  name: directory-fields
spec:
  owner: user:default/alice
  type: service
  parameters:
    - title: Service
      required: [owner]
      properties:
        owner:
          title: Owner
          type: string
          ui:field: DirectoryGroupPicker
        contact:
          title: Contact
          type: string
          default: user:default/bob
          ui:field: DirectoryUserPicker
  steps:
    - id: log
      name: Log
      action: debug:log
      input: { message: '\${{ parameters.owner }}' }
`;

/**
 * Fills in the template with the keyboard and creates its task.
 *
 * @param options.axe - source text of axe-core
 * @throws AssertionError for violations that axe reports, and for unexpected
 *   stored values
 */
export async function checkFields({ page, url, axe }) {
  const combobox = name => page.getByRole('combobox', { name });
  const option = name =>
    page.getByRole('option', { name: new RegExp(`^${name}(?![\\w.-])`) });
  const button = name => page.getByRole('button', { name, exact: true });

  await page.goto(`${url}/create/templates/default/directory-fields`);
  await combobox('Owner').waitFor({ timeout: 120_000 });
  await tabTo(page, combobox('Owner'));
  await page.getByRole('option').first().waitFor();
  await checkAccessibility(page, axe);
  await search(page, { text: 'provenp', result: option('provenpackager') });
  await page.keyboard.press('ArrowDown');
  await checkAccessibility(page, axe);
  await page.keyboard.press('Enter');

  await tabTo(page, combobox('Contact'));
  assert.equal(await combobox('Contact').inputValue(), 'bob');
  await search(page, { text: 'alice', result: option('alice') });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await untilClosed(page);
  await checkAccessibility(page, axe);

  await tabTo(page, button('Review'));
  await page.keyboard.press('Enter');
  await tabTo(page, button('Create'));
  const [request] = await Promise.all([
    page.waitForRequest(
      each => each.method() === 'POST' && each.url().endsWith('/v2/tasks'),
    ),
    page.keyboard.press('Enter'),
  ]);
  assert.deepEqual(request.postDataJSON().values, {
    owner: 'group:default/provenpackager',
    contact: 'user:default/alice',
  });
  assert.equal((await request.response()).status(), 201);
}

/** Presses Tab until an element has focus. */
async function tabTo(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 100; presses += 1) {
    if (await target.evaluate(each => each === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
}

/** Waits until no list is visible. */
async function untilClosed(page) {
  await page.waitForFunction(() => !document.querySelector('[role="listbox"]'));
}

/** Requires that axe finds no violations in the form and in an open list. */
async function checkAccessibility(page, axe) {
  const isOpen = await page.getByRole('listbox').isVisible();
  const include = isOpen ? [['form'], ['[role="listbox"]']] : [['form']];
  // React Aria hides the other fields while the list is open; Tab closes it.
  const rules = { 'aria-hidden-focus': { enabled: !isOpen } };
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    ([context, options]) => window.axe.run(context, options),
    [{ include }, { rules }],
  );
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html}`),
  );
  assert.deepEqual(found, []);
}

/** Replaces the text of the focused field and waits for a result. */
async function search(page, { text, result }) {
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
  await result.waitFor();
}
