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
  const choose = async (label, text) => {
    const field = page.getByRole('combobox', { name: label });
    await field.fill(text, { timeout: 120_000 });
    const name = new RegExp(`^${text}(?![\\w.-])`);
    await page.getByRole('option', { name }).waitFor();
    await field.press('ArrowDown');
    await checkAccessibility(page, axe);
    await field.press('Enter');
  };
  const button = name => page.getByRole('button', { name, exact: true });

  await page.goto(`${url}/create/templates/default/directory-fields`);
  await choose('Owner', 'provenpackager');
  await choose('Contact', 'alice');
  await button('Review').press('Enter');
  const [request] = await Promise.all([
    page.waitForRequest(
      each => each.method() === 'POST' && each.url().endsWith('/v2/tasks'),
    ),
    button('Create').press('Enter'),
  ]);
  assert.deepEqual(request.postDataJSON().values, {
    owner: 'group:default/provenpackager',
    contact: 'user:default/alice',
  });
  assert.equal((await request.response()).status(), 201);
}

/** Requires that axe finds no violations in the form and its open list. */
async function checkAccessibility(page, axe) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(
      { include: [['form'], ['[role="listbox"]']] },
      // React Aria hides the other fields while the list is open; Tab closes it.
      { rules: { 'aria-hidden-focus': { enabled: false } } },
    ),
  );
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html}`),
  );
  assert.deepEqual(found, []);
}
