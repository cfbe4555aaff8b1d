// Clicks entry NUMBER of the menu of a Snakemake report and all that it leads to, and returns
// its name and the results that were shown. Throws where a click leaves the page blank or shows
// no result.
async (number) => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const text = (element) => element.innerText.replace(/\s+/g, " ").trim();
    const rows = () => all("nav tbody tr");
    const choices = () => all("nav fieldset input");
    const links = (row) => rows()[row].querySelectorAll("td:last-child a");
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

    // The menu and what stands beside it. React removes both where anything was thrown.
    const visible = () => {
        const [menu] = all("#app nav > div > :last-child");
        const [beside] = all("#app > div > :last-child");
        const drawing = "img, iframe, canvas, svg";
        return menu && text(menu) && (text(beside) || beside.querySelector(drawing));
    };
    const click = async (element, what) => {
        element.click();
        await drawn();
        // Diagrams are drawn late.
        for (let look = 0; look < 100 && all("#app nav").length && !visible(); look++)
            await new Promise((done) => setTimeout(done, 50));
        if (!visible()) throw new Error(`the page is blank after a click on ${what}`);
    };

    // The result that a click on its link has shown, or offers to save.
    const shown = async (link) => {
        const beside = all("#app > div > :last-child :is(img, iframe)");
        const view = link.download ? link : beside[0];
        if (view instanceof HTMLImageElement) await view.decode();
        const data = view?.getAttribute(link.download ? "href" : "src");
        return Object.keys(results).find((path) => results[path].data_uri === data);
    };

    const entry = all("nav ul li a")[number];
    const name = text(entry), paths = [];
    await click(entry, name);
    // The way back from a description resets the choice.
    for (let choice = 0; choice < Math.max(choices().length, 1); choice++) {
        for (let row = 0; row < rows().length; row++) {
            const chosen = choices()[choice];
            if (chosen) await click(chosen, `${name}: ${chosen.value}`);
            const what = `${name}: ${text(rows()[row])}`;
            const [link, description] = links(row);
            await click(link, what);
            const path = await shown(link);
            if (!path) throw new Error(`a click on ${what} shows no result`);
            paths.push(path);
            await click(description, `the description of ${what}`);
            const back = all("nav nav a").findLast((crumb) => text(crumb) === name);
            await click(back, `${name} above it`);
        }
    }
    return { name, paths };
}
