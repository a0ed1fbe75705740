"""The part of the page about decision regions."""

from typing import Any

from nearline._records.words import many
from nearline.report._charts import MOST_LABELS, SHAPES, region_chart
from nearline.report._html import Html, h, name_of
from nearline.report._parts import section

MOST_LEGEND = 12  # classes named beside the picture


def region_section(facts: dict[str, Any]) -> Html:
    """The plane that tells the classes apart best, colored by what the model calls."""
    regions = facts["regions"]
    title = "Decision regions"
    if "said" in regions:
        return section("regions", title, h("p", regions["said"]))
    classes = regions["classes"]
    legend = [
        h("li", h("i", class_=f"swatch c{c % SHAPES}"), name_of(one, 40)) for c, one in enumerate(classes)
    ]
    return section(
        "regions",
        title,
        h("p", " ".join(_told(facts))),
        h("figure", region_chart(regions), class_="regions"),
        h("ul", legend, class_="legend") if len(classes) <= MOST_LEGEND else None,
    )


def _told(facts: dict[str, Any]) -> list[str]:
    """What the picture shows, and what it leaves out."""
    regions = facts["regions"]
    across, up = regions["axes"]
    crosses = "; crosses: those called wrong." if regions["what"] == "test rows" else "."
    said = [
        f"A projection of the rows as the model sees them ({facts['model']['representation']}) onto two directions: across "
        f"the {across}, up the {up}. Colored areas: the class that the model calls for the average row expected at that "
        f"place. Dots: {regions['what']} in the color of their class{crosses}",
        f"The picture keeps {regions['share_of_variance']:.0%} of the variance, so that a dot can lie in an area of another "
        "class than it is called.",
    ]
    if regions["outside"]:
        said.append(f"{many(regions['outside'], 'row lies', 'rows lie')} outside of the picture.")
    if regions["looked_at"]:
        vote = ", which alone vote here, so that borders are coarser than the model's own"
        chance = f"{regions['looked_at']:,} training rows taken by chance"
        said.append(f"The directions come from {chance}{vote if regions['by_votes'] else ''}.")
    n = len(regions["classes"])
    if n > SHAPES:
        how = f"the {MOST_LABELS} largest are named" if n > MOST_LABELS else "names tell them apart"
        said.append(f"There are {n:,} classes and {SHAPES} colors; {how}.")
    return said
